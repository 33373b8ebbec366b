{{/* Names and labels of the objects of a release. */}}

{{- define "lsql-console.name" -}}
{{- default .Chart.Name .Values.nameOverride -}}
{{- end -}}

{{- define "lsql-console.fullname" -}}
{{- $name := include "lsql-console.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if or .Chart.IsRoot (contains $name .Release.Name) -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- end -}}

{{/* The configured namespaces, as a JSON array. */}}
{{- define "lsql-console.namespaces" -}}
{{- default (list .Release.Namespace) .Values.namespaces | toJson -}}
{{- end -}}

{{/* The name of the ConfigMap with the document. */}}
{{- define "lsql-console.documentName" -}}
{{- printf "%s-processors" (include "lsql-console.fullname" .) -}}
{{- end -}}

{{- define "lsql-console.tokensSecret" -}}
{{- default (printf "%s-tokens" (include "lsql-console.fullname" .)) .Values.auth.token.existingSecret -}}
{{- end -}}

{{- define "lsql-console.image" -}}
{{- with .Values.image -}}
{{- if .registry }}{{ .registry }}/{{ end -}}
{{- .repository -}}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* Labels that never change, for selectors. Call with (dict "root" $ "component" "..."). */}}
{{- define "lsql-console.selectorLabels" -}}
app.kubernetes.io/name: {{ include "lsql-console.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "lsql-console.labels" -}}
{{- $labels := dict
  "app.kubernetes.io/name" (include "lsql-console.name" .root)
  "app.kubernetes.io/instance" .root.Release.Name
  "app.kubernetes.io/component" .component
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/managed-by" .root.Release.Service
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_")
-}}
{{- toYaml (merge $labels (default dict .labels) .root.Values.commonLabels) -}}
{{- end -}}

{{/*
The metadata of an object. Call with (dict "root" $ "component" "..."); optional: "suffix" of the name, "namespace",
"annotations", "clusterWide" for an object without a namespace.
*/}}
{{- define "lsql-console.metadata" -}}
name: {{ include "lsql-console.fullname" .root }}{{ .suffix }}
{{- if not .clusterWide }}
namespace: {{ default .root.Release.Namespace .namespace }}
{{- end }}
labels:
  {{- include "lsql-console.labels" . | nindent 2 }}
{{- with merge dict (default dict .annotations) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The components that use the Kubernetes API, each with a service account, as a JSON array. */}}
{{- define "lsql-console.components" -}}
{{- $recovery := ternary (list "recovery") list (or .Values.recovery.enabled .Values.recovery.afterInstall) -}}
{{- concat $recovery (ternary (list "console") list .Values.console.enabled) | toJson -}}
{{- end -}}
