{{/* Names and labels of the objects of a release. */}}

{{/* The value of app.kubernetes.io/name. */}}
{{- define "lsql-runner.name" -}}
{{- default .Chart.Name .Values.nameOverride -}}
{{- end -}}

{{/*
Name of the processor and of its objects, which is also the contract's label `app`. A release of its own is called what
the release is called; a dependency adds its name or alias, because an umbrella may hold several. Never cut to length:
two long names could become one. validate.yaml refuses what does not fit.
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

{{- define "lsql-runner.image" -}}
{{- with .Values.image -}}
{{- if .registry }}{{ .registry }}/{{ end -}}
{{- .repository -}}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end -}}
{{- end -}}
{{- end -}}

{{/*
Labels that never change, for selectors: a selector cannot be changed by an upgrade, so neither chart nor version is
among them. `component` keeps Services from sending requests to the pods of validation and test.
*/}}
{{- define "lsql-runner.selectorLabels" -}}
app: {{ include "lsql-runner.fullname" . }}
app.kubernetes.io/name: {{ include "lsql-runner.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: processor
{{- end -}}

{{/*
Labels by which the runner's workload is known to whoever manages processors. `lenses-id` is never set here: it is
given once from outside, and an upgrade must leave it alone.
*/}}
{{- define "lsql-runner.contractLabels" -}}
lenses: lenses-processor
{{- with .Values.user }}
lenses-user: {{ . | quote }}
{{- end }}
{{- end -}}

{{/*
Labels of an object, the chart's own before `labels`, and these before the common ones. Without a component it is the
processor's. Call with (dict "root" $ "component" "..." "labels" <map>).
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
