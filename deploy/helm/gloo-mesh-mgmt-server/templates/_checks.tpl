{{- /* Values that contradict each other, each with its remedy. What one value alone can say is in values.schema.json. */}}
{{- define "gloo-mesh-mgmt-server.checks" -}}
{{- include "gloo-mesh-mgmt-server.referenceChecks" . }}
{{- if and (not .Values.serviceAccount.create) (eq .Values.serviceAccount.name "") }}
{{- fail "serviceAccount.create: false needs serviceAccount.name, the account that exists already" }}
{{- end }}
{{- range $label := list "app" "app.kubernetes.io/name" "app.kubernetes.io/part-of" "service" "sidecar.istio.io/inject" }}
{{- if hasKey $.Values.commonLabels $label }}
{{- fail (printf "commonLabels.%s: this chart sets it: leave it out" $label) }}
{{- end }}
{{- end }}
{{- $redis := .Values.redis }}
{{- range $name := list "POD_NAMESPACE" "POD_NAME" "NODE_OPTIONS" "REDIS_ADDRESS" "REDIS_DB" "REDIS_USERNAME" "REDIS_PASSWORD" "REDIS_TLS" "REDIS_CA_FILE" "REDIS_SERVER_NAME" }}
{{- if hasKey $.Values.extraEnvs $name }}
{{- fail (printf "extraEnvs.%s: this chart sets it: use redis or resources.limits.memory instead" $name) }}
{{- end }}
{{- end }}
{{- if and .Values.relay.tokenSecret.name (hasKey .Values.extraEnvs "RELAY_TOKEN") }}
{{- fail "relay.tokenSecret.name and extraEnvs.RELAY_TOKEN both give the token: set one of them" }}
{{- end }}
{{- if and $redis.deployment.enabled $redis.address }}
{{- fail (printf "redis.address: %s is an external Redis, but redis.deployment.enabled is true: set it to false, or leave the address empty" $redis.address) }}
{{- end }}
{{- if and $redis.deployment.enabled $redis.certs.enabled }}
{{- fail "redis.certs.enabled: the Redis of this chart does not serve TLS: use an external Redis (redis.deployment.enabled: false, redis.address), or set it to false" }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (eq (include "gloo-mesh-mgmt-server.redisAddress" .) "") }}
{{- fail (printf "replicas: %d servers share their state through Redis, but there is none: set redis.deployment.enabled or redis.address, or 1 replica" (int .Values.replicas)) }}
{{- end }}
{{- if and (eq (toString .Values.glooUi.enabled) "true") (eq (include "gloo-mesh-mgmt-server.redisAddress" .) "") }}
{{- fail "glooUi.enabled: the console shows what servers keep in Redis, but there is none: set redis.deployment.enabled or redis.address, or glooUi.enabled: false" }}
{{- end }}
{{- with .Values.glooUi.login }}
{{- if and (eq .kind "kubernetes") (not (hasPrefix "https://" .publicUrl)) }}
{{- fail (printf "glooUi.login.publicUrl: %q is not where browsers see the console: set a URL that begins with https://, such as https://console.example.com" .publicUrl) }}
{{- end }}
{{- if and (ne .kind "kubernetes") (or .publicUrl .tlsSecretName) }}
{{- fail "glooUi.login: publicUrl and tlsSecretName have no effect without a login: set glooUi.login.kind: kubernetes" }}
{{- end }}
{{- if and (ne .kind "kubernetes") (ne $.Values.glooUi.serviceType "ClusterIP") }}
{{- fail (printf "glooUi.serviceType: %s has no effect without a login, as the console listens on loopback alone: set glooUi.login.kind: kubernetes, or use meshctl dashboard" $.Values.glooUi.serviceType) }}
{{- end }}
{{- end }}
{{- if and .Values.glooUi.redis.authSecretName (or (not $redis.auth.enabled) $redis.deployment.enabled) }}
{{- fail "glooUi.redis.authSecretName is for an external Redis with users: set redis.auth.enabled and redis.address, or leave it empty" }}
{{- end }}
{{- $accessPolicies := dig "cilium" "accessPolicies" "" .Values.settings }}
{{- if and .Values.glooNetwork.enabled $accessPolicies (ne $accessPolicies "ENABLED") }}
{{- fail (printf "settings.cilium.accessPolicies: %s contradicts glooNetwork.enabled, which is ENABLED: set one of them" $accessPolicies) }}
{{- end }}
{{- if and .Values.ingress.enabled (ne .Values.serviceType "ClusterIP") }}
{{- fail (printf "serviceType: %s would make the server reachable beside its ingress gateway: set ClusterIP, or ingress.enabled: false" .Values.serviceType) }}
{{- end }}
{{- if and .Values.ingress.authority (not .Values.ingress.enabled) }}
{{- fail "ingress.authority has no effect without ingress.enabled: enable it, or use relay.serverNames for a name in the certificate" }}
{{- end }}
{{- if and .Values.relay.disableCa (not .Values.relay.disableCaCertGeneration) }}
{{- fail "relay.disableCa: certificates that the server generates include a signing authority: set relay.disableCaCertGeneration too, and provide relay-server-tls-secret" }}
{{- end }}
{{- if and .Values.relay.disableCa .Values.relay.disableClientCertificateAuthentication }}
{{- fail "relay.disableCa: without client certificates there is no signing authority to leave out: set one of relay.disableCa and relay.disableClientCertificateAuthentication" }}
{{- end }}
{{- if and .Values.relay.disableTokenGeneration (or .Values.relay.tokenSecret.name (hasKey .Values.extraEnvs "RELAY_TOKEN")) }}
{{- fail "relay.disableTokenGeneration: the token is given by relay.tokenSecret.name or extraEnvs.RELAY_TOKEN, so none is generated: set it to false" }}
{{- end }}
{{- end }}
