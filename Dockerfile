# One image for catalog, coordinator and worker; the command says which: docker run skein worker
FROM node:24-slim

WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev && npm cache clean --force

COPY proto ./proto
COPY shared ./shared
COPY catalog ./catalog
COPY coordinator ./coordinator
COPY worker ./worker
COPY cli ./cli
COPY workload.example.yaml ./
RUN ln -s /app/cli/skein.js /usr/local/bin/skein \
  && for folder in ca catalog coordinator worker operator etcd secret; do mkdir -p "/tls/$folder"; done \
  && mkdir -p /data /spill && chown -R node:node /data /spill /tls && chmod -R go-rwx /tls

# A running query holds a thread of libuv's pool; the default of 4 is too few, and it counts only before Node starts.
ENV NODE_ENV=production \
    UV_THREADPOOL_SIZE=32 \
    SKEIN_DATA_DIR=/data

USER node
VOLUME ["/data"]
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "/app/cli/skein.js"]
CMD ["help"]
