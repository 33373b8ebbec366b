{{/* Names and labels of the objects of a release. */}}

{{/* The value of app.kubernetes.io/name. */}}
{{- define "lsql-runner.name" -}}
{{- default .Chart.Name .Values.nameOverride -}}
{{- end -}}

{{/*
Name of the processor and of its objects, and the value of the label `app`. It is the name of the release; in a dependency
the name or alias is appended, because an umbrella chart may contain several. It is never truncated, because two long
names could become equal; validate.yaml refuses names that are too long.
*/}}
{{- define "lsql-runner.fullname" -}}
{{- $name := include "lsql-runner.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if or .Chart.IsRoot (contains $name .Release.Name) -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- end -}}

{{/* Consumer group and identity of the state. */}}
{{- define "lsql-runner.appId" -}}
{{- default (include "lsql-runner.fullname" .) .Values.appId -}}
{{- end -}}

{{- define "lsql-runner.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "lsql-runner.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "lsql-runner.claimName" -}}
{{- default (printf "%s-state" (include "lsql-runner.fullname" .)) .Values.persistence.existingClaim -}}
{{- end -}}

{{/* The number of pods that run the program or stand by. */}}
{{- define "lsql-runner.pods" -}}
{{- ternary (add 1 .Values.standby.replicas) 0 (gt (int .Values.replicas) 0) -}}
{{- end -}}

{{/* The folder with the jars of the connector for `state.uri`; empty if there is none. */}}
{{- define "lsql-runner.connectorPath" -}}
{{- with .Values.state -}}
{{- if and .uri (or .connector.image .connector.existingClaim) -}}/etc/lsql-runner/connector{{- else if .uri -}}{{- .connector.path -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The host names of the API, as a JSON list: those of the Services, of the Ingress, of the HTTPRoute, and more in the values. */}}
{{- define "lsql-runner.allowedHosts" -}}
{{- $name := include "lsql-runner.fullname" . -}}
{{- $headless := printf "%s-headless" $name -}}
{{- $hosts := list -}}
{{- $names := list $name $headless -}}
{{- range $number := until (int (add 1 .Values.standby.replicas)) -}}
{{- $names = append $names (printf "%s-%d.%s" $name $number $headless) -}}
{{- end -}}
{{- range $names -}}
{{- $hosts = append $hosts . -}}
{{- $hosts = append $hosts (printf "%s.%s" . $.Release.Namespace) -}}
{{- $hosts = append $hosts (printf "%s.%s.svc" . $.Release.Namespace) -}}
{{- end -}}
{{- if .Values.ingress.enabled -}}{{- $hosts = concat $hosts .Values.ingress.hosts -}}{{- end -}}
{{- if .Values.httpRoute.enabled -}}{{- $hosts = concat $hosts .Values.httpRoute.hostnames -}}{{- end -}}
{{- concat $hosts .Values.api.allowedHosts | uniq | toJson -}}
{{- end -}}

{{/* The Secret with the token of the API. */}}
{{- define "lsql-runner.apiSecretName" -}}
{{- default (printf "%s-api" (include "lsql-runner.fullname" .)) .Values.api.token.existingSecret -}}
{{- end -}}

{{/* The Secret with the token that reads the state. */}}
{{- define "lsql-runner.readSecretName" -}}
{{- default (printf "%s-api-read" (include "lsql-runner.fullname" .)) .Values.api.readToken.existingSecret -}}
{{- end -}}

{{/* The Secret with which workers log in to the processor. */}}
{{- define "lsql-runner.workersSecretName" -}}
{{- default (printf "%s-workers" (include "lsql-runner.fullname" .)) .Values.workers.secret.existingSecret -}}
{{- end -}}

{{/* The labels that select the pods of the workers. */}}
{{- define "lsql-runner.workerSelectorLabels" -}}
{{- mergeOverwrite (include "lsql-runner.selectorLabels" . | fromYaml) (dict "app.kubernetes.io/component" "worker") | toYaml -}}
{{- end -}}

{{- define "lsql-runner.image" -}}
{{- with .Values.image -}}
{{- if .registry }}{{ .registry }}/{{ end -}}
{{- .repository -}}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end -}}
{{- end -}}
{{- end -}}

{{/*
Labels for selectors. An upgrade cannot change a selector, so they contain neither chart nor version. `component` keeps
Services from sending requests to the pods of validation and test.
*/}}
{{- define "lsql-runner.selectorLabels" -}}
app: {{ include "lsql-runner.fullname" . }}
app.kubernetes.io/name: {{ include "lsql-runner.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: processor
{{- end -}}

{{/*
Labels that identify the workload as a processor. `lenses-id` is never set here: the recovery job sets it once, and an
upgrade must not change it.
*/}}
{{- define "lsql-runner.processorLabels" -}}
lenses: lenses-processor
{{- with .Values.user }}
lenses-user: {{ . | quote }}
{{- end }}
{{- end -}}

{{/*
Labels of an object: those of the chart take precedence over `labels`, and these over the common ones. The default
component is the processor. Call with (dict "root" $ "component" "..." "labels" <map>).
*/}}
{{- define "lsql-runner.labels" -}}
{{- $labels := dict
  "app" (include "lsql-runner.fullname" .root)
  "app.kubernetes.io/name" (include "lsql-runner.name" .root)
  "app.kubernetes.io/instance" .root.Release.Name
  "app.kubernetes.io/component" (default "processor" .component)
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/managed-by" .root.Release.Service
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_")
-}}
{{- toYaml (merge $labels (default dict .labels) .root.Values.commonLabels) -}}
{{- end -}}

{{/*
The metadata of an object. Call with (dict "root" $), and what differs: "suffix" of the name, or another "name",
"component", "labels", "annotations".
*/}}
{{- define "lsql-runner.metadata" -}}
name: {{ default (printf "%s%s" (include "lsql-runner.fullname" .root) (default "" .suffix)) .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "lsql-runner.labels" . | nindent 2 }}
{{- with merge dict (default dict .annotations) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
