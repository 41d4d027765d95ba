{{- /* Values that the charts of the reference have and this one has not, each with what to use instead; `accepted` is the one content that changes nothing. */}}
{{- define "gloo-mesh-agent.referenceValues" -}}
- value: relay.clientTlsSecret.name
  accepted: "relay-client-tls-secret"
  instead: "The Secret has one name, relay-client-tls-secret: create yours under it (docs/own-pki.md)."
- value: relay.clientTlsSecret.namespace
  accepted: {{ .Release.Namespace }}
  instead: "Secrets are read in the namespace of the release: create it there."
- value: relay.rootTlsSecret.name
  accepted: "relay-root-tls-secret"
  instead: "The Secret has one name, relay-root-tls-secret: create yours under it (docs/own-pki.md)."
- value: relay.rootTlsSecret.namespace
  accepted: {{ .Release.Namespace }}
  instead: "Secrets are read in the namespace of the release: create it there."
- value: relay.tokenSecret.namespace
  accepted: {{ .Release.Namespace }}
  instead: "Secrets are read in the namespace of the release: create it there."
- value: relay.clientTlsSecretRotationGracePeriodRatio
  instead: "Certificates are renewed between half and two thirds of their lifetime: use relay.agentCertificateLifetime of the Settings."
- value: relay.insecure
  accepted: false
  instead: "Connections between server and agents always use TLS: remove it."
- value: relay.maxGrpcMessageSize
  instead: "It has no meaning: a large state is sent in several messages. Remove it."
- value: maxGrpcMessageSize
  instead: "It has no meaning: a large state is sent in several messages. Remove it."
- value: ports.grpc
  instead: "The port is always 9977: dataPlane.enabled makes its Service, for access logs and Wasm filters of proxies."
- value: ports.http
  instead: "The port is always 9988, with legacyNames alone: it answers whether proxies are served (docs/decisions/0151)."
- value: ports.healthcheck
  instead: "Health is on the port of ports.stats: remove it."
- value: metricsBufferSize
  instead: "Proxies send no metrics to agents: remove it, and set agentServices.metrics of the Settings to have agents read them."
- value: accessLogsBufferSize
  instead: "The agent keeps the newest access logs within limits of its own: remove it."
- value: istiodSidecar
  instead: "The agent has no sidecar of istiod: use meshCertificates for the CAs of meshes."
- value: common
  instead: "Use relay.cluster, verbose and leaderElection of this chart; the rest has no meaning."
- value: settingsRef
  instead: "The management server tells the agent its Settings: remove it."
- value: insecure
  accepted: false
  instead: "Connections between server and agents always use TLS: remove it."
- value: licensing
  instead: "No license is needed: remove it."
- value: licenseKey
  instead: "No license is needed: remove it."
{{- end }}

{{- define "gloo-mesh-agent.referenceChecks" -}}
{{- range $one := include "gloo-mesh-agent.referenceValues" . | fromYamlArray }}
{{- $at := $.Values }}
{{- range $name := splitList "." $one.value }}
{{- $at = ternary (get (default dict $at) $name) nil (kindIs "map" $at) }}
{{- end }}
{{- if not (or (kindIs "invalid" $at) (eq (toString $at) "") (and (hasKey $one "accepted") (eq (toString $at) (toString $one.accepted)))) }}
{{- fail (printf "%s: %s" $one.value $one.instead) }}
{{- end }}
{{- end }}
{{- end }}
