{{/* The common parts of the pods of job and console. */}}

{{/* The configuration file, as lsql_runner/console/settings.py reads it. */}}
{{- define "lsql-console.config" -}}
{{- $auth := dict "mode" .Values.auth.mode -}}
{{- if eq .Values.auth.mode "header" -}}
{{- $_ := set $auth "header" .Values.auth.header -}}
{{- else if eq .Values.auth.mode "token" -}}
{{- $_ := set $auth "token" (dict "file" "/etc/lsql-tokens/tokens" "secureCookie" .Values.auth.token.secureCookie) -}}
{{- end -}}
{{- $name := include "lsql-console.fullname" . -}}
{{- $own := list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) -}}
{{- dict
  "namespaces" (include "lsql-console.namespaces" . | fromJsonArray)
  "document" (dict "namespace" .Release.Namespace "name" (include "lsql-console.documentName" .))
  "deletedKeepHours" .Values.deletedKeepHours
  "runners" (omit .Values.runners "tokenSecrets")
  "port" 8084
  "allowedHosts" (concat $own .Values.console.allowedHosts | uniq)
  "pollSeconds" .Values.console.pollSeconds
  "auth" $auth
  "actions" .Values.actions
  "workers" .Values.workers
  "dryRunEvents" .Values.dryRunEvents
  "logs" .Values.logs
  "logLevel" .Values.logLevel
  | toYaml -}}
{{- end -}}

{{/* Scheduling and permissions of a pod. Call with (dict "root" $ "account" "suffix of the service account"). */}}
{{- define "lsql-console.podBase" -}}
serviceAccountName: {{ include "lsql-console.fullname" .root }}{{ .account }}
automountServiceAccountToken: true
enableServiceLinks: false
securityContext:
  {{- toYaml .root.Values.podSecurityContext | nindent 2 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* The source of a temporary volume, with a size limit if it is not empty. Numbers have no exponent. */}}
{{- define "lsql-console.emptyDir" -}}
emptyDir: {{ if . }}{sizeLimit: {{ ternary (printf "%.0f" (float64 .)) (toString .) (kindIs "float64" .) | quote }}}{{ else }}{}{{ end }}
{{- end -}}

{{- define "lsql-console.containerBase" -}}
image: {{ include "lsql-console.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
{{- end -}}

{{- define "lsql-console.podMetadata" -}}
labels:
  {{- include "lsql-console.labels" (dict "root" .root "component" .component "labels" .root.Values.podLabels) | nindent 2 }}
annotations:
  checksum/config: {{ include "lsql-console.config" .root | sha256sum }}
  {{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) .root.Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The spec of the job, which runs after an install and on a schedule. */}}
{{- define "lsql-console.jobSpec" -}}
backoffLimit: {{ .Values.recovery.backoffLimit }}
activeDeadlineSeconds: {{ .Values.recovery.activeDeadlineSeconds }}
ttlSecondsAfterFinished: 86400
template:
  metadata:
    {{- include "lsql-console.podMetadata" (dict "root" . "component" "recovery") | nindent 4 }}
  spec:
    restartPolicy: Never
    {{- include "lsql-console.podBase" (dict "root" . "account" "-recovery") | nindent 4 }}
    containers:
      - name: recover
        args: [lsql-console, recover]
        {{- include "lsql-console.containerBase" . | nindent 8 }}
        resources:
          {{- toYaml .Values.recovery.resources | nindent 10 }}
        volumeMounts:
          - name: config
            mountPath: /etc/lsql-console
            readOnly: true
          - name: tmp
            mountPath: /tmp
    volumes:
      - name: config
        configMap:
          name: {{ include "lsql-console.fullname" . }}
      - name: tmp
        {{- include "lsql-console.emptyDir" .Values.recovery.tmpSizeLimit | nindent 8 }}
{{- end -}}
