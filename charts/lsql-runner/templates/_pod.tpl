{{/* The common parts of the pods of processor, validation and test, and the pod of the processor. */}}

{{/* Scheduling and permissions of every pod of the chart. */}}
{{- define "lsql-runner.podBase" -}}
{{- /* Service links: a Service `sql` would set the variable SQL_PORT, and `lsql-x` an unknown LSQL_ variable. */}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* Image, permissions, environment and mounts of a container that runs `lsql`. Call like `lsql-runner.credentials`. */}}
{{- define "lsql-runner.containerBase" -}}
image: {{ include "lsql-runner.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- toYaml .root.Values.securityContext | nindent 2 }}
env:
  {{- include "lsql-runner.env" . | trim | nindent 2 }}
{{- with .root.Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - name: state
    mountPath: /var/lib/lsql-runner
  - name: tmp
    mountPath: /tmp
  {{- $credentials := include "lsql-runner.credentials" . | fromJsonArray }}
  {{- if $credentials }}
  - name: credentials
    mountPath: /etc/lsql-runner/credentials
    readOnly: true
  {{- end }}
  {{- range $credentials }}
  {{- if eq .file "kafka/krb5.conf" }}
  # The default path of both Kafka clients, Java's and librdkafka's.
  - name: credentials
    mountPath: /etc/krb5.conf
    subPath: {{ .file }}
    readOnly: true
  {{- end }}
  {{- end }}
  {{- if and .api .root.Values.standby.replicas }}
  - name: lease
    mountPath: /var/run/secrets/kubernetes.io/serviceaccount
    readOnly: true
  {{- end }}
  {{- if or .root.Values.userFunctions.existingConfigMap .root.Values.userFunctions.existingClaim }}
  - name: functions
    mountPath: /etc/lsql-runner/functions
    readOnly: true
  {{- end }}
  {{- $worker := .worker }}
  {{- with .root.Values.state }}
  {{- if and .uri .existingSecret (not $worker) }}
  - name: state-settings
    mountPath: /etc/lsql-runner/state
    readOnly: true
  {{- end }}
  {{- if and .uri (or .connector.image .connector.existingClaim) }}
  - name: connector
    mountPath: /etc/lsql-runner/connector
    readOnly: true
  {{- end }}
  {{- end }}
  {{- with .root.Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The init containers of the processor and of its workers: the copy of the connector's jars, then those of `containers`. Call with
(dict "root" $ "containers" ...). */}}
{{- define "lsql-runner.initContainers" -}}
{{- $containers := .containers -}}
{{- with .root.Values.state -}}
{{- if and .uri .connector.image -}}
{{- $copy := dict
  "name" "connector"
  "image" .connector.image
  "command" (list "cp" "-R" "/jars/." "/connector")
  "securityContext" $.root.Values.securityContext
  "volumeMounts" (list (dict "name" "connector" "mountPath" "/connector"))
-}}
{{- $containers = prepend $containers $copy -}}
{{- end -}}
{{- end -}}
{{- with $containers -}}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* The source of a temporary volume, with a size limit if it is not empty. */}}
{{- define "lsql-runner.emptyDir" -}}
emptyDir: {{ if . }}{sizeLimit: {{ include "lsql-runner.text" . | quote }}}{{ else }}{}{{ end }}
{{- end -}}

{{/*
Volumes except that of the state. All credentials are one projected volume, whose files the kubelet replaces atomically, so
that a certificate and its key always match. Call like `lsql-runner.credentials`, with the size limit "tmp".
*/}}
{{- define "lsql-runner.volumes" -}}
- name: tmp
  {{ include "lsql-runner.emptyDir" .tmp }}
{{- $credentials := include "lsql-runner.credentials" . | fromJsonArray }}
{{- if $credentials }}
- name: credentials
  projected:
    defaultMode: 0440
    sources:
      {{- range $credentials }}
      - {{ ternary "configMap" "secret" (hasKey . "configMap") }}:
          name: {{ default .secret .configMap }}
          items:
            - key: {{ .key | quote }}
              path: {{ .file }}
      {{- end }}
{{- end }}
{{- if and .api .root.Values.standby.replicas }}
# A token for the Lease, which the kubelet renews.
- name: lease
  projected:
    defaultMode: 0440
    sources:
      - serviceAccountToken:
          path: token
          expirationSeconds: 600
      - configMap:
          name: kube-root-ca.crt
          items:
            - key: ca.crt
              path: ca.crt
{{- end }}
{{- with .root.Values.userFunctions }}
{{- if .existingConfigMap }}
- name: functions
  configMap:
    name: {{ .existingConfigMap }}
{{- else if .existingClaim }}
- name: functions
  persistentVolumeClaim:
    claimName: {{ .existingClaim }}
    readOnly: true
{{- end }}
{{- end }}
{{- $worker := .worker }}
{{- with .root.Values.state }}
{{- if and .uri .existingSecret (not $worker) }}
- name: state-settings
  secret:
    secretName: {{ .existingSecret }}
    defaultMode: 0440
    items:
      - key: {{ .existingSecretKey | quote }}
        path: core-site.xml
{{- end }}
{{- if and .uri .connector.image }}
- name: connector
  emptyDir: {}
{{- else if and .uri .connector.existingClaim }}
- name: connector
  persistentVolumeClaim:
    claimName: {{ .connector.existingClaim }}
    readOnly: true
{{- end }}
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* A probe: its path, and its timing from the values. Call with (dict "path" "/health/live" "timing" ...). */}}
{{- define "lsql-runner.probe" -}}
httpGet:
  path: {{ .path }}
  port: http
{{ toYaml .timing }}
{{- end -}}

{{/* The pod template of the processor, for both kinds of workload. */}}
{{- define "lsql-runner.podTemplate" -}}
{{- $fullname := include "lsql-runner.fullname" . -}}
{{- $context := dict "root" . "own" (printf "%s-credentials" $fullname) "api" true "tmp" .Values.ephemeralStorage.tmpSizeLimit -}}
{{- $annotations := deepCopy .Values.podAnnotations -}}
{{- with include "lsql-runner.ownSecretData" $context -}}
{{- $_ := set $annotations "checksum/credentials" (sha256sum .) -}}
{{- end -}}
{{- if .Values.metrics.scrapeAnnotations -}}
{{- $_ := merge $annotations (dict "prometheus.io/scrape" "true" "prometheus.io/port" "8083" "prometheus.io/path" "/metrics") -}}
{{- end -}}
{{- $labels := mergeOverwrite (deepCopy .Values.commonLabels) .Values.podLabels (include "lsql-runner.processorLabels" . | fromYaml) -}}
{{- if .Values.pipeline -}}{{- $_ := set $labels "pipeline" .Values.pipeline -}}{{- end -}}
metadata:
  labels:
    {{- mergeOverwrite $labels (include "lsql-runner.selectorLabels" . | fromYaml) | toYaml | nindent 4 }}
  {{- with mergeOverwrite (deepCopy .Values.commonAnnotations) $annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "lsql-runner.serviceAccountName" . }}
  {{- include "lsql-runner.podBase" . | nindent 2 }}
  {{- if or .Values.topologySpreadConstraints .Values.standby.replicas }}
  topologySpreadConstraints:
    {{- with .Values.topologySpreadConstraints }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    # A standby on the node of the leader is lost with it.
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "lsql-runner.selectorLabels" . | nindent 10 }}
    {{- end }}
  {{- end }}
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with include "lsql-runner.initContainers" (dict "root" . "containers" .Values.initContainers) }}
  {{- . | nindent 2 }}
  {{- end }}
  containers:
    - name: runner
      {{- include "lsql-runner.containerBase" $context | nindent 6 }}
      ports:
        - name: http
          containerPort: 8083
        {{- if .Values.workers.replicas }}
        - name: workers
          containerPort: 7077
        - name: driver
          containerPort: 7078
        - name: blocks
          containerPort: 7079
        {{- end }}
      startupProbe:
        {{- include "lsql-runner.probe" (dict "path" "/health/startup" "timing" .Values.probes.startup) | nindent 8 }}
      livenessProbe:
        {{- include "lsql-runner.probe" (dict "path" "/health/live" "timing" .Values.probes.liveness) | nindent 8 }}
      readinessProbe:
        {{- include "lsql-runner.probe" (dict "path" "/health/ready" "timing" .Values.probes.readiness) | nindent 8 }}
      {{- with .Values.preStopSleepSeconds }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ . }}
      {{- end }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
    {{- with .Values.sidecars }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    - name: state
      {{- if .Values.persistence.enabled }}
      persistentVolumeClaim:
        claimName: {{ include "lsql-runner.claimName" . }}
      {{- else }}
      {{- include "lsql-runner.emptyDir" .Values.ephemeralStorage.stateSizeLimit | nindent 6 }}
      {{- end }}
    {{- include "lsql-runner.volumes" $context | nindent 4 }}
{{- end -}}
