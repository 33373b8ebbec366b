{{/* The environment variables of docs/reference/settings.md, from the values. */}}

{{/* The program: `sql`, or the file of this chart that `sqlFile` names. */}}
{{- define "lsql-runner.sql" -}}
{{- if .Values.sql -}}{{- .Values.sql -}}{{- else if .Values.sqlFile -}}{{- .Files.Get .Values.sqlFile -}}{{- end -}}
{{- end -}}

{{/*
A text as a double-quoted YAML scalar that the container gets unchanged. Kubernetes expands `$(NAME)` and `$$` in values
of variables, so each `$` is doubled. JSON is valid YAML except for characters that YAML does not allow (DEL, the C1
controls) or changes (NEL, the byte order mark): these are escaped as well.
*/}}
{{- define "lsql-runner.literal" -}}
{{- $text := . | replace "$" "$$" | toJson -}}
{{- range $code := concat (untilStep 127 160 1) (list 65279 65534 65535) -}}
{{- $text = replace (printf "%c" $code) (printf "\\u%04x" $code) $text -}}
{{- end -}}
{{- $text -}}
{{- end -}}

{{/*
All variables that the chart sets, as a JSON list of {name, value}. They include settings with the default of the runner,
so that the workload shows the complete configuration. Call like `lsql-runner.credentials`.
*/}}
{{- define "lsql-runner.variables" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
{{- $kafka := $values.kafka -}}
{{- $sasl := $kafka.sasl -}}
{{- $protocol := include "lsql-runner.securityProtocol" $root -}}
{{- $set := list
  (list "SQL" (include "lsql-runner.sql" $root))
  (list "SQL_APP_ID" (include "lsql-runner.appId" $root))
  (list "SQL_BOOTSTRAP_SERVERS" (include "lsql-runner.bootstrapServers" $root))
  (list "SQL_STATE_STORE_DIR" "/var/lib/lsql-runner")
  (list "SQL_PORT" "8083")
  (list "LSQL_WORKLOAD" (printf "%s/%s/%s" $root.Release.Namespace $values.workload.kind (include "lsql-runner.fullname" $root)))
  (list "SQL_METRIC_FREQUENCY" $values.metricFrequencyMs)
  (list "ROOT_LOG_LEVEL" $values.logLevel)
  (list "LSQL_THREADS" $values.processing.threads)
  (list "LSQL_MAX_RECORDS_PER_BATCH" $values.processing.maxRecordsPerBatch)
  (list "LSQL_SAMPLE_RECORDS" $values.processing.sampleRecords)
  (list "LSQL_STUCK_AFTER_S" $values.processing.stuckAfterSeconds)
  (list "LSQL_ON_DATA_LOSS" $values.processing.onDataLoss)
  (list "LSQL_GUARANTEE" (default (ternary "exactly_once" "at_least_once" (or $values.persistence.enabled (ne $values.state.uri ""))) $values.processing.guarantee))
  (list "LSQL_STATE_PARTITIONS" $values.state.partitions)
  (list "LSQL_STATE_ON_LOSS" $values.state.onLoss)
  (list "LSQL_STATE_ON_CHANGE" (get (dict "refuse" "fail" "blueGreen" "blue_green" "newGeneration" (eq $values.upgrade.rebuildFrom "now" | ternary "reset" "rebuild")) $values.upgrade.onIncompatible))
  (list "LSQL_STATE_SWITCH" $values.upgrade.switch)
  (list "LSQL_STATE_SWITCH_AFTER_S" $values.upgrade.switchAfterSeconds)
  (list "LSQL_STATE_REBUILD_FROM" (eq $values.upgrade.rebuildFrom "earliest" | ternary "earliest" "open_windows"))
  (list "LSQL_STATE_KEEP_GENERATIONS" $values.state.keepGenerations)
  (list "LSQL_CHECKPOINT_KEEP_S" $values.state.checkpoint.keepSeconds)
  (list "LSQL_CHECKPOINT_MAX_MIB" $values.state.checkpoint.maxMiB)
  (list "LSQL_SNAPSHOTS_EVERY_S" $values.state.snapshots.everySeconds)
  (list "LSQL_SNAPSHOTS_KEEP" $values.state.snapshots.keep)
  (list "LSQL_STATE_ON_MEANING_CHANGE" $values.upgrade.onMeaningChange)
  (list "LSQL_ERRORS_INCLUDE_VALUES" $values.errors.includeValues)
  (list "SECURITY_PROTOCOL" $protocol)
-}}
{{- with $values.state -}}
{{- if .uri -}}
{{- $set = append $set (list "LSQL_STATE_URI" .uri) -}}
{{- with include "lsql-runner.connectorPath" $root -}}{{- $set = append $set (list "LSQL_STATE_JARS" .) -}}{{- end -}}
{{- if .existingSecret -}}{{- $set = append $set (list "LSQL_STATE_SITE" "/etc/lsql-runner/state/core-site.xml") -}}{{- end -}}
{{- range $key, $value := .options -}}
{{- $set = append $set (list (printf "LSQL_STATE_OPTION_%s" ($key | upper | replace "." "_")) $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (or .api .worker .validation) $values.workers.replicas -}}
{{- $set = concat $set (list
  (list "LSQL_WORKERS_HOST" (printf "%s-headless.%s.svc" (include "lsql-runner.fullname" $root) $root.Release.Namespace))
  (list "LSQL_WORKERS_PORT" "7077")
  (list "LSQL_WORKERS_ENCRYPTION" $values.workers.encryption)
  (list "LSQL_WORKERS_THREADS" $values.workers.threads)) -}}
{{- with (default dict $values.workers.resources.limits).memory -}}{{- $set = append $set (list "LSQL_WORKERS_MEMORY" .) -}}{{- end -}}
{{- end -}}
{{- if .api -}}{{- $set = concat $set (include "lsql-runner.autoscalingVariables" $root | fromJsonArray) -}}{{- end -}}
{{- if and .api $values.standby.replicas -}}
{{- $set = concat $set (list
  (list "LSQL_LEASE" (printf "%s/%s" $root.Release.Namespace (include "lsql-runner.fullname" $root)))
  (list "LSQL_LEASE_SECONDS" $values.standby.leaseSeconds)
  (list "LSQL_LEASE_RENEW_SECONDS" $values.standby.renewSeconds)) -}}
{{- end -}}
{{- with (default dict $values.resources.limits).memory -}}{{- $set = append $set (list "LSQL_MEMORY_LIMIT" .) -}}{{- end -}}
{{- if $values.processing.heapMiB -}}{{- $set = append $set (list "LSQL_HEAP_MIB" $values.processing.heapMiB) -}}{{- end -}}
{{- if $values.topics -}}{{- $set = append $set (list "LSQL_TOPICS" (toJson $values.topics)) -}}{{- end -}}
{{- if or $values.userFunctions.existingConfigMap $values.userFunctions.existingClaim -}}
{{- $set = append $set (list "LSQL_UDF_DIR" "/etc/lsql-runner/functions") -}}
{{- end -}}
{{- if $values.user -}}{{- $set = append $set (list "LSQL_USER" $values.user) -}}{{- end -}}
{{- if $values.javaOpts -}}{{- $set = append $set (list "JAVA_OPTS" $values.javaOpts) -}}{{- end -}}
{{- $set = append $set (list "LSQL_ALLOWED_HOSTS" (include "lsql-runner.allowedHosts" $root | fromJsonArray | join ",")) -}}
{{- if .api -}}
{{- $set = append $set (list "LSQL_API_ACTIONS" $values.api.actions) -}}
{{- $set = append $set (list "LSQL_API_QUERIES" $values.api.queries) -}}
{{- $set = append $set (list "LSQL_API_QUERIES_PER_SECOND" $values.api.queriesPerSecond) -}}
{{- with $values.api.trustedProxies -}}{{- $set = append $set (list "LSQL_API_TRUSTED_PROXIES" (join "," .)) -}}{{- end -}}
{{- end -}}
{{- with $values.policy.read.allow -}}{{- $set = append $set (list "LSQL_POLICY_READ_ALLOW" (join "," .)) -}}{{- end -}}
{{- with $values.policy.read.deny -}}{{- $set = append $set (list "LSQL_POLICY_READ_DENY" (join "," .)) -}}{{- end -}}
{{- with $values.policy.write.allow -}}{{- $set = append $set (list "LSQL_POLICY_WRITE_ALLOW" (join "," .)) -}}{{- end -}}
{{- with $values.policy.write.deny -}}{{- $set = append $set (list "LSQL_POLICY_WRITE_DENY" (join "," .)) -}}{{- end -}}
{{- with $values.schemaRegistry -}}
{{- if .url -}}
{{- $set = append $set (list "SQL_SCHEMA_REGISTRY_URL" .url) -}}
{{- if .username -}}{{- $set = append $set (list "LSQL_SCHEMA_REGISTRY_USER" .username) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $sink := $values.sinks -}}
{{- $set = append $set (list (printf "LSQL_SINK_%s_URL" (upper $name)) $sink.url) -}}
{{- with $sink.username -}}{{- $set = append $set (list (printf "LSQL_SINK_%s_USER" (upper $name)) .) -}}{{- end -}}
{{- end -}}
{{- if hasPrefix "SASL_" $protocol -}}
{{- $set = append $set (list "SASL_MECHANISM" $sasl.mechanism) -}}
{{- if and $sasl.username (has $sasl.mechanism (list "PLAIN" "SCRAM-SHA-256" "SCRAM-SHA-512")) -}}
{{- $set = append $set (list "SASL_USERNAME" $sasl.username) -}}
{{- else if eq $sasl.mechanism "OAUTHBEARER" -}}
{{- with $sasl.oauthbearer -}}
{{- $set = append $set (list "SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL" .tokenEndpointUrl) -}}
{{- if .clientId -}}{{- $set = append $set (list "SASL_OAUTHBEARER_CLIENT_ID" .clientId) -}}{{- end -}}
{{- if .scope -}}{{- $set = append $set (list "SASL_OAUTHBEARER_SCOPE" .scope) -}}{{- end -}}
{{- end -}}
{{- else if eq $sasl.mechanism "GSSAPI" -}}
{{- $set = concat $set (list
  (list "SASL_KERBEROS_SERVICE_NAME" $sasl.gssapi.serviceName)
  (list "SASL_KERBEROS_PRINCIPAL" $sasl.gssapi.principal)) -}}
{{- end -}}
{{- end -}}
{{- $credentials := include "lsql-runner.credentials" . | fromJsonArray -}}
{{- range $credentials -}}
{{- if eq .variable "SSL_TRUSTSTORE_CERTIFICATES_FILE" -}}{{- $set = append $set (list "SSL_TRUSTSTORE_TYPE" "PEM") -}}{{- end -}}
{{- if eq .variable "SSL_KEYSTORE_KEY_FILE" -}}{{- $set = append $set (list "SSL_KEYSTORE_TYPE" "PEM") -}}{{- end -}}
{{- if .variable -}}{{- $set = append $set (list .variable (printf "/etc/lsql-runner/credentials/%s" .file)) -}}{{- end -}}
{{- end -}}
{{- if not $kafka.tls.verifyHostname -}}
{{- $set = append $set (list "SSL_ENDPOINT_IDENTIFICATION_ALGORITHM" "") -}}
{{- end -}}
{{- range $name, $value := $kafka.clientConfig -}}
{{- $set = append $set (list (include "lsql-runner.clientVariable" $name) $value) -}}
{{- end -}}
{{- $named := list -}}
{{- range $set -}}{{- $named = append $named (dict "name" (first .) "value" (last .)) -}}{{- end -}}
{{- toJson $named -}}
{{- end -}}

{{/*
The variables of a worker: those of the cluster and of its JVMs, and the files of credentials, whose paths are in the settings of
Kafka's clients that it gets from the processor. Call like `lsql-runner.credentials`.
*/}}
{{- define "lsql-runner.workerVariables" -}}
{{- $values := .root.Values -}}
{{- $kept := list "ROOT_LOG_LEVEL" "JAVA_OPTS" "LSQL_ERRORS_INCLUDE_VALUES" "LSQL_UDF_DIR" "LSQL_STATE_JARS" "LSQL_WORKERS_HOST" "LSQL_WORKERS_PORT" "LSQL_WORKERS_ENCRYPTION" "LSQL_WORKERS_SECRET_FILE" -}}
{{- $set := list (dict "name" "LSQL_THREADS" "value" $values.workers.threads) -}}
{{- if $values.workers.heapMiB -}}{{- $set = append $set (dict "name" "LSQL_HEAP_MIB" "value" $values.workers.heapMiB) -}}{{- end -}}
{{- range include "lsql-runner.variables" . | fromJsonArray -}}
{{- if has .name $kept -}}{{- $set = append $set . -}}{{- end -}}
{{- end -}}
{{- toJson $set -}}
{{- end -}}

{{/* The container's env: variables of the chart, then those of `extraEnv`. Call like `lsql-runner.credentials`. */}}
{{- define "lsql-runner.env" -}}
{{- range include (ternary "lsql-runner.workerVariables" "lsql-runner.variables" (default false .worker)) . | fromJsonArray }}
- name: {{ .name }}
  value: {{ include "lsql-runner.literal" (include "lsql-runner.text" .value) }}
{{- end }}
{{- if and .validation (eq .root.Values.api.actions "token") }}
- name: LSQL_API_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ include "lsql-runner.apiSecretName" .root }}
      key: {{ .root.Values.api.token.key | quote }}
      # Before the first install there is none.
      optional: true
{{- end }}
{{- with .root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* A value as text; numbers without an exponent, because values files have them as floats (1000000 is 1e+06). */}}
{{- define "lsql-runner.text" -}}
{{- if kindIs "float64" . -}}{{- if eq (floor .) . -}}{{- int64 . -}}{{- else -}}{{- . -}}{{- end -}}{{- else -}}{{- . -}}{{- end -}}
{{- end -}}
