{{/* What the HorizontalPodAutoscaler and the ScaledObject of the workers have in common. */}}

{{/* The kind of the object that changes the number of workers; empty if none does. */}}
{{- define "lsql-runner.autoscaler" -}}
{{- with .Values.autoscaling -}}{{- if and .enabled (not .dryRun) -}}{{- .kind -}}{{- end -}}{{- end -}}
{{- end -}}

{{/*
The behavior of the HorizontalPodAutoscaler. The number of the processor has passed its windows and its cool-down, so that it is applied
at once: without windows, and without Kubernetes' limit of 4 more pods in 15 s.
*/}}
{{- define "lsql-runner.scalingBehavior" -}}
{{- $up := dict "stabilizationWindowSeconds" 0 "selectPolicy" "Max" "policies" (list (dict "type" "Pods" "value" .Values.autoscaling.maxReplicas "periodSeconds" 15)) -}}
{{- $down := dict "stabilizationWindowSeconds" 0 "selectPolicy" "Max" "policies" (list (dict "type" "Percent" "value" 100 "periodSeconds" 15)) -}}
{{- mergeOverwrite (dict "scaleUp" $up "scaleDown" $down) (deepCopy .Values.autoscaling.behavior) | toYaml -}}
{{- end -}}

{{/* The variables of the scaling policy, as a JSON list of [name, value]. */}}
{{- define "lsql-runner.autoscalingVariables" -}}
{{- with .Values.autoscaling -}}
{{- $set := list -}}
{{- if .enabled -}}
{{- $set = list
  (list "LSQL_AUTOSCALING_ENABLED" .enabled)
  (list "LSQL_AUTOSCALING_DRY_RUN" .dryRun)
  (list "LSQL_AUTOSCALING_CATCH_UP_S" .target.catchUpSeconds)
  (list "LSQL_AUTOSCALING_LAG" .target.lagRecords)
  (list "LSQL_AUTOSCALING_MIN" .minReplicas)
  (list "LSQL_AUTOSCALING_MAX" .maxReplicas)
  (list "LSQL_AUTOSCALING_TOLERANCE" .tolerance)
  (list "LSQL_AUTOSCALING_UP_WINDOW_S" .windows.upSeconds)
  (list "LSQL_AUTOSCALING_DOWN_WINDOW_S" .windows.downSeconds)
  (list "LSQL_AUTOSCALING_COOLDOWN_S" .cooldownSeconds)
-}}
{{- end -}}
{{- toJson $set -}}
{{- end -}}
{{- end -}}
