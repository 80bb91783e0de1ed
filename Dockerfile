# One image for catalog, coordinator and worker; the command says which: docker run skein worker
FROM node:24-slim AS package

WORKDIR /source
COPY package.json package-lock.json README.md LICENSE ./
# The packages that build the console; nothing of the rest is needed here.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY proto ./proto
COPY shared ./shared
COPY catalog ./catalog
COPY coordinator ./coordinator
COPY worker ./worker
COPY cli ./cli
COPY console ./console
COPY monitoring ./monitoring
COPY deploy ./deploy
COPY docs ./docs
COPY workload.example.yaml ./
RUN mkdir /package && npm pack --pack-destination /package

FROM node:24-slim

WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev && npm cache clean --force
# The same package that `npm pack` makes for a host.
RUN --mount=type=bind,from=package,source=/package,target=/package tar -xzf /package/skein-sql-*.tgz --strip-components 1
RUN ln -s /app/cli/skein.js /usr/local/bin/skein \
  && for folder in ca catalog coordinator worker operator etcd secret secrets-key doors; do mkdir -p "/tls/$folder"; done \
  && mkdir -p /data /spill && chown -R node:node /data /spill /tls && chmod -R go-rwx /tls

# A running query holds a thread of libuv's pool; the default of 4 is too few, and it counts only before Node starts.
ENV NODE_ENV=production \
    UV_THREADPOOL_SIZE=32 \
    SKEIN_DATA_DIR=/data

USER node
VOLUME ["/data", "/spill"]
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "/app/cli/skein.js"]
CMD ["help"]
