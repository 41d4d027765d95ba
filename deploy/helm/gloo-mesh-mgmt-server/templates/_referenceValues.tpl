{{- /* Values that the charts of the reference have and this one has not, each with what to use instead; `accepted` is the one content that changes nothing. */}}
{{- define "gloo-mesh-mgmt-server.referenceValues" -}}
- value: relay.tlsSecret.name
  accepted: "relay-server-tls-secret"
  instead: "The Secret has one name, relay-server-tls-secret: create yours under it (docs/own-pki.md)."
- value: relay.tlsSecret.namespace
  accepted: {{ .Release.Namespace }}
  instead: "Secrets are read in the namespace of the release: create it there."
- value: relay.signingTlsSecret.name
  accepted: "relay-tls-signing-secret"
  instead: "The Secret has one name, relay-tls-signing-secret: create yours under it (docs/own-pki.md)."
- value: relay.signingTlsSecret.namespace
  accepted: {{ .Release.Namespace }}
  instead: "Secrets are read in the namespace of the release: create it there."
- value: relay.tokenSecret.namespace
  accepted: {{ .Release.Namespace }}
  instead: "Secrets are read in the namespace of the release: create it there."
- value: relay.pushRbac
  instead: "It has no meaning: the chart of the agent brings the roles that the agent needs. Remove it."
- value: maxGrpcMessageSize
  instead: "It has no meaning: a large state is sent in several messages. Remove it."
- value: concurrency
  instead: "It has no meaning: docs/operations/sizing.md says what a server needs. Remove it."
- value: enableClusterLoadBalancing
  accepted: false
  instead: "It has no meaning: each agent connects to any of the replicas. Remove it."
- value: registerCluster
  accepted: false
  instead: "Use singleCluster, or meshctl cluster register with an agent in the management cluster."
- value: redis.connection
  instead: "Timeouts and retries of connections to Redis are fixed: remove it."
- value: glooUi.ports.grpc
  instead: "The console has no port for gRPC: remove it."
- value: glooUi.ports.healthcheck
  instead: "Health is on the port of glooUi.ports.stats: remove it."
- value: glooUi.auth.enabled
  accepted: false
  instead: "Users log in with tokens of the Kubernetes API: use glooUi.login (docs/operations/console.md)."
- value: glooUi.auth.backend
  instead: "Users log in with tokens of the Kubernetes API: use glooUi.login (docs/operations/console.md)."
- value: glooUi.auth.oidc
  instead: "Users log in with tokens of the Kubernetes API: use glooUi.login (docs/operations/console.md)."
- value: glooUi.settingsName
  accepted: "settings"
  instead: "The Settings are named settings, in the namespace of the release: use the value settings."
- value: ports.healthcheck
  instead: "Health is on the port of ports.stats: remove it."
- value: statsPort
  instead: "Use ports.stats."
- value: common
  instead: "Use verbose, leaderElection and settings of this chart; the rest has no meaning."
- value: settingsRef
  instead: "The Settings are named settings, in the namespace of the release: use the value settings."
- value: insecure
  accepted: false
  instead: "Connections between server and agents always use TLS: remove it."
- value: licensing
  instead: "No license is needed: remove it."
- value: licenseKey
  instead: "No license is needed: remove it."
{{- end }}

{{- define "gloo-mesh-mgmt-server.referenceChecks" -}}
{{- range $one := include "gloo-mesh-mgmt-server.referenceValues" . | fromYamlArray }}
{{- $at := $.Values }}
{{- range $name := splitList "." $one.value }}
{{- $at = ternary (get (default dict $at) $name) nil (kindIs "map" $at) }}
{{- end }}
{{- if not (or (kindIs "invalid" $at) (eq (toString $at) "") (and (hasKey $one "accepted") (eq (toString $at) (toString $one.accepted)))) }}
{{- fail (printf "%s: %s" $one.value $one.instead) }}
{{- end }}
{{- end }}
{{- end }}
