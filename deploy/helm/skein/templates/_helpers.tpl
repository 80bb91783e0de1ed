{{- define "skein.labels" -}}
app.kubernetes.io/name: skein
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .kind }}
{{- end }}

{{- define "skein.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Environment that every service has. */}}
{{- define "skein.env" -}}
{{- $root := .root }}
- name: SKEIN_DATA_DIR
  value: /data
- name: SKEIN_HOST
  value: 0.0.0.0
- name: SKEIN_INTERNAL_HOST
  value: 0.0.0.0
- name: SKEIN_CLUSTER_SECRET_FILE
  value: /tls/secret/cluster-secret
- name: SKEIN_CLUSTER_TLS_CA
  value: /tls/role/ca.pem
- name: SKEIN_CLUSTER_TLS_CERT
  value: /tls/role/cert.pem
- name: SKEIN_CLUSTER_TLS_KEY
  value: /tls/role/key.pem
- name: ETCD_ENDPOINTS
  value: {{ join "," $root.Values.etcdEndpoints | quote }}
- name: SKEIN_CATALOG_URL
  value: http://{{ $root.Release.Name }}-catalog:8181
- name: SKEIN_CATALOG_INTERNAL_URL
  value: {{ include "skein.catalogs" $root | quote }}
{{- range $name, $value := $root.Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* The internal port of each catalog: one that is silent is left for the next at once, which a Service's address does not allow. */}}
{{- define "skein.catalogs" -}}
{{- $name := .Release.Name }}
{{- range $i := until (int .Values.catalog.replicas) }}{{ if $i }},{{ end }}{{ $name }}-catalog-{{ $i }}.{{ $name }}-catalogs:8191{{ end }}
{{- end }}

{{- define "skein.database" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.databaseSecret }}
      key: DATABASE_URL
{{- end }}

{{- define "skein.mounts" -}}
- name: secret
  mountPath: /tls/secret
  readOnly: true
- name: tls
  mountPath: /tls/role
  readOnly: true
- name: tmp
  mountPath: /tmp
{{- if .Values.warehouse.existingClaim }}
- name: warehouse
  mountPath: {{ trimPrefix "file://" .Values.warehouse.url }}
{{- end }}
{{- end }}

{{- define "skein.volumes" -}}
- name: secret
  secret:
    secretName: {{ .root.Values.clusterSecret }}
    defaultMode: 0440
- name: tls
  secret:
    secretName: {{ index .root.Values.tlsSecrets .kind }}
    defaultMode: 0440
- name: tmp
  emptyDir: {}
{{- if .root.Values.warehouse.existingClaim }}
- name: warehouse
  persistentVolumeClaim:
    claimName: {{ .root.Values.warehouse.existingClaim }}
{{- end }}
{{- end }}

{{/* Pods run as the image's user, without rights, on a root file system that they cannot write. */}}
{{- define "skein.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "skein.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Pods of a kind on different nodes: where there are enough, or (antiAffinity: required) always. */}}
{{- define "skein.affinity" -}}
podAntiAffinity:
{{- if eq .root.Values.antiAffinity "required" }}
  requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: kubernetes.io/hostname
      labelSelector:
        matchLabels:
          {{- include "skein.labels" . | nindent 10 }}
{{- else }}
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "skein.labels" . | nindent 12 }}
{{- end }}
{{- end }}

{{- define "skein.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .root.Release.Name }}-{{ .kind }}
  labels:
    {{- include "skein.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "skein.labels" . | nindent 6 }}
{{- end }}
