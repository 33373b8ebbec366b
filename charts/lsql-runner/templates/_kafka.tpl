{{/*
Kafka, the schema registry and sinks: addresses, and the table of all credentials. The environment, the mounted files and the
chart's Secret are derived from this table.
*/}}

{{/* All addresses of `kafka.bootstrapServers` as a JSON list, whether it is a list or one text with commas. */}}
{{- define "lsql-runner.servers" -}}
{{- $servers := .Values.kafka.bootstrapServers -}}
{{- if kindIs "string" $servers -}}{{- $servers = splitList "," $servers -}}{{- end -}}
{{- $found := list -}}
{{- range $servers -}}{{- with trim . -}}{{- $found = append $found . -}}{{- end -}}{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* The protocols in the addresses, as a JSON list. */}}
{{- define "lsql-runner.listedProtocols" -}}
{{- $found := list -}}
{{- range include "lsql-runner.servers" . | fromJsonArray -}}
{{- if contains "://" . -}}{{- $found = append $found (splitList "://" . | first | upper) -}}{{- end -}}
{{- end -}}
{{- toJson ($found | uniq) -}}
{{- end -}}

{{/* The security protocol: the value, else the first in an address, else PLAINTEXT. */}}
{{- define "lsql-runner.securityProtocol" -}}
{{- $listed := include "lsql-runner.listedProtocols" . | fromJsonArray -}}
{{- coalesce .Values.kafka.securityProtocol (first $listed) "PLAINTEXT" -}}
{{- end -}}

{{/* `host:port` of the brokers with the security protocol, separated by commas. */}}
{{- define "lsql-runner.bootstrapServers" -}}
{{- $protocol := include "lsql-runner.securityProtocol" . -}}
{{- $found := list -}}
{{- range include "lsql-runner.servers" . | fromJsonArray -}}
{{- $parts := splitList "://" . -}}
{{- if or (eq (len $parts) 1) (eq (first $parts | upper) $protocol) -}}{{- $found = append $found (last $parts) -}}{{- end -}}
{{- end -}}
{{- join "," $found -}}
{{- end -}}

{{/* Addresses of the schema registry as a JSON list. */}}
{{- define "lsql-runner.registryUrls" -}}
{{- $found := list -}}
{{- range splitList "," .Values.schemaRegistry.url -}}{{- with trim . -}}{{- $found = append $found . -}}{{- end -}}{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/*
The port in `host[:port]`, where an IPv6 address is in brackets. Call with (dict "server" "..." "default" "<port>").
*/}}
{{- define "lsql-runner.port" -}}
{{- $port := regexReplaceAll "^\\[[^]]*\\]" .server "" | regexFind ":[0-9]+$" | trimPrefix ":" -}}
{{- default .default $port -}}
{{- end -}}

{{/* The ports of brokers, registry, token endpoint and sinks, and those of `networkPolicy.egressPorts`, as a JSON list. */}}
{{- define "lsql-runner.egressPorts" -}}
{{- $ports := list -}}
{{- range include "lsql-runner.bootstrapServers" . | splitList "," -}}
{{- $ports = append $ports (include "lsql-runner.port" (dict "server" . "default" "") | int) -}}
{{- end -}}
{{- $oauth := eq .Values.kafka.sasl.mechanism "OAUTHBEARER" -}}
{{- $called := append (include "lsql-runner.registryUrls" . | fromJsonArray) (ternary .Values.kafka.sasl.oauthbearer.tokenEndpointUrl "" $oauth) -}}
{{- range compact $called -}}
{{- $url := urlParse . -}}
{{- $default := ternary "443" "80" (eq $url.scheme "https") -}}
{{- $ports = append $ports (include "lsql-runner.port" (dict "server" $url.host "default" $default) | int) -}}
{{- end -}}
{{- range .Values.sinks -}}
{{- $default := ternary "5432" "6379" (hasPrefix "jdbc:postgresql:" .url) -}}
{{- range regexReplaceAll "^[a-z:]+//([^/?]*).*$" .url "${1}" | splitList "," -}}
{{- $ports = append $ports (include "lsql-runner.port" (dict "server" . "default" $default) | int) -}}
{{- end -}}
{{- end -}}
{{- range .Values.networkPolicy.egressPorts -}}
{{- $ports = append $ports (int .) -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}

{{/* The rules of a NetworkPolicy that allow connections to DNS and to these ports. */}}
{{- define "lsql-runner.egressToServers" -}}
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
- ports:
    {{- range include "lsql-runner.egressPorts" . | fromJsonArray }}
    - port: {{ . }}
    {{- end }}
  {{- with .Values.networkPolicy.egressTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* `SASL_JAAS_CONFIG` for `sasl.jaas.config`. */}}
{{- define "lsql-runner.clientVariable" -}}
{{- . | upper | replace "." "_" -}}
{{- end -}}

{{/*
The credentials in use, as a JSON list of {variable, file, secret or configMap, key, inline}: `file` is the path below
/etc/lsql-runner/credentials; `secret` (or `configMap`) and `key` are its source; `inline` (base64) is present for credentials in the values,
which the chart stores in its own Secret `secret`. Call with (dict "root" $ "own" "<name of that Secret>"), and with "api"
true for a container that serves the API, or "worker" true for one of a worker.
*/}}
{{- define "lsql-runner.credentials" -}}
{{- $own := .own -}}
{{- $kafka := .root.Values.kafka -}}
{{- $sasl := $kafka.sasl -}}
{{- $registry := .root.Values.schemaRegistry -}}
{{- $ca := $kafka.tls.ca -}}
{{- $client := $kafka.tls.client -}}
{{- $rows := list
  (dict "file" "kafka/ca.crt" "variable" "SSL_TRUSTSTORE_CERTIFICATES_FILE" "inline" $ca.pem "secret" $ca.existingSecret "key" $ca.key)
  (dict "file" "kafka/tls.crt" "variable" "SSL_KEYSTORE_CERTIFICATE_CHAIN_FILE" "inline" $client.certificate "secret" $client.existingSecret "key" $client.certificateKey)
  (dict "file" "kafka/tls.key" "variable" "SSL_KEYSTORE_KEY_FILE" "inline" $client.privateKey "secret" $client.existingSecret "key" $client.privateKeyKey)
  (dict "file" "kafka/tls.key.password" "variable" "SSL_KEY_PASSWORD_FILE" "inline" $client.privateKeyPassword "secret" $client.existingSecret "key" $client.privateKeyPasswordKey)
-}}
{{- if has $sasl.mechanism (list "PLAIN" "SCRAM-SHA-256" "SCRAM-SHA-512") -}}
{{- if not $sasl.username -}}
{{- $rows = append $rows (dict "file" "kafka/username" "variable" "SASL_USERNAME_FILE" "secret" $sasl.existingSecret "key" $sasl.usernameKey) -}}
{{- end -}}
{{- $rows = append $rows (dict "file" "kafka/password" "variable" "SASL_PASSWORD_FILE" "inline" $sasl.password "secret" $sasl.existingSecret "key" $sasl.passwordKey) -}}
{{- else if eq $sasl.mechanism "OAUTHBEARER" -}}
{{- with $sasl.oauthbearer -}}
{{- if not .clientId -}}
{{- $rows = append $rows (dict "file" "kafka/client-id" "variable" "SASL_OAUTHBEARER_CLIENT_ID_FILE" "secret" .existingSecret "key" .clientIdKey) -}}
{{- end -}}
{{- $rows = append $rows (dict "file" "kafka/client-secret" "variable" "SASL_OAUTHBEARER_CLIENT_SECRET_FILE" "inline" .clientSecret "secret" .existingSecret "key" .clientSecretKey) -}}
{{- end -}}
{{- else if eq $sasl.mechanism "GSSAPI" -}}
{{- with $sasl.gssapi -}}
{{- $rows = append $rows (dict "file" "kafka/keytab" "variable" "SASL_KERBEROS_KEYTAB" "base64" .keytab "secret" .existingSecret "key" .keytabKey) -}}
{{- $krb5ConfKey := ternary "" .krb5ConfKey (ne .krb5Conf "") -}}
{{- $rows = append $rows (dict "file" "kafka/krb5.conf" "inline" .krb5Conf "secret" .existingSecret "key" $krb5ConfKey) -}}
{{- end -}}
{{- end -}}
{{- if $registry.url -}}
{{- if not $registry.username -}}
{{- $rows = append $rows (dict "file" "schema-registry/username" "variable" "LSQL_SCHEMA_REGISTRY_USER_FILE" "secret" $registry.existingSecret "key" $registry.usernameKey) -}}
{{- end -}}
{{- $rows = append $rows (dict "file" "schema-registry/password" "variable" "LSQL_SCHEMA_REGISTRY_PASSWORD_FILE" "inline" $registry.password "secret" $registry.existingSecret "key" $registry.passwordKey) -}}
{{- $ca := $registry.tls.ca -}}
{{- $client := $registry.tls.client -}}
{{- $rows = concat $rows (list
  (dict "file" "schema-registry/ca.crt" "variable" "LSQL_SCHEMA_REGISTRY_CA_FILE" "inline" $ca.pem "secret" $ca.existingSecret "key" $ca.key)
  (dict "file" "schema-registry/tls.crt" "variable" "LSQL_SCHEMA_REGISTRY_CERTIFICATE_FILE" "inline" $client.certificate "secret" $client.existingSecret "key" $client.certificateKey)
  (dict "file" "schema-registry/tls.key" "variable" "LSQL_SCHEMA_REGISTRY_KEY_FILE" "inline" $client.privateKey "secret" $client.existingSecret "key" $client.privateKeyKey)
  (dict "file" "schema-registry/tls.key.password" "variable" "LSQL_SCHEMA_REGISTRY_KEY_PASSWORD_FILE" "inline" $client.privateKeyPassword "secret" $client.existingSecret "key" $client.privateKeyPasswordKey)
) -}}
{{- end -}}
{{- range $name, $from := $kafka.clientConfigFrom -}}
{{- $rows = append $rows (dict "file" (printf "kafka/%s" $name) "variable" (printf "%s_FILE" (include "lsql-runner.clientVariable" $name)) "secret" $from.secret "key" $from.key) -}}
{{- end -}}
{{- range $name, $sink := .root.Values.sinks -}}
{{- if not $sink.username -}}
{{- $rows = append $rows (dict "file" (printf "sinks/%s/username" $name) "variable" (printf "LSQL_SINK_%s_USER_FILE" (upper $name)) "secret" $sink.existingSecret "key" (ternary $sink.usernameKey "username" (hasKey $sink "usernameKey"))) -}}
{{- end -}}
{{- $rows = append $rows (dict "file" (printf "sinks/%s/password" $name) "variable" (printf "LSQL_SINK_%s_PASSWORD_FILE" (upper $name)) "inline" $sink.password "secret" $sink.existingSecret "key" (default "password" $sink.passwordKey)) -}}
{{- with $sink.ca -}}
{{- $rows = append $rows (dict "file" (printf "sinks/%s/ca.crt" $name) "variable" (printf "LSQL_SINK_%s_CA_FILE" (upper $name)) "inline" .pem "secret" .existingSecret "configMap" .existingConfigMap "key" (default "ca.crt" .key)) -}}
{{- end -}}
{{- end -}}
{{- if and .api (eq .root.Values.api.actions "token") -}}
{{- $rows = append $rows (dict "file" "api/token" "variable" "LSQL_API_TOKEN_FILE" "secret" (include "lsql-runner.apiSecretName" .root) "key" .root.Values.api.token.key) -}}
{{- end -}}
{{- if and .api (eq .root.Values.api.queries "token") -}}
{{- $rows = append $rows (dict "file" "api/read-token" "variable" "LSQL_API_READ_TOKEN_FILE" "secret" (include "lsql-runner.readSecretName" .root) "key" .root.Values.api.readToken.key) -}}
{{- end -}}
{{- /* The Secret that the chart makes does not exist before the first install. */ -}}
{{- if and (or .api .worker (and .validation .root.Values.workers.secret.existingSecret)) .root.Values.workers.replicas -}}
{{- $rows = append $rows (dict "file" "workers/secret" "variable" "LSQL_WORKERS_SECRET_FILE" "secret" (include "lsql-runner.workersSecretName" .root) "key" .root.Values.workers.secret.key) -}}
{{- end -}}
{{- $used := list -}}
{{- range $rows -}}
{{- $inline := default (default "" .inline | b64enc) .base64 -}}
{{- if $inline -}}
{{- $used = append $used (dict "file" .file "variable" (default "" .variable) "secret" $own "key" (replace "/" "." .file) "inline" $inline) -}}
{{- else if and .secret .key -}}
{{- $used = append $used (dict "file" .file "variable" (default "" .variable) "secret" .secret "key" .key) -}}
{{- else if .configMap -}}
{{- $used = append $used (dict "file" .file "variable" (default "" .variable) "configMap" .configMap "key" .key) -}}
{{- end -}}
{{- end -}}
{{- toJson $used -}}
{{- end -}}

{{/* Data of the chart's Secret: empty if the values contain no credential. Call like `lsql-runner.credentials`. */}}
{{- define "lsql-runner.ownSecretData" -}}
{{- $data := dict -}}
{{- range include "lsql-runner.credentials" . | fromJsonArray -}}
{{- if .inline -}}{{- $_ := set $data .key .inline -}}{{- end -}}
{{- end -}}
{{- if $data -}}{{- toYaml $data -}}{{- end -}}
{{- end -}}
