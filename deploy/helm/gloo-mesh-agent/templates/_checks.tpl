{{- /* Values that contradict each other, each with its remedy. What one value alone can say is in values.schema.json. */}}
{{- define "gloo-mesh-agent.checks" -}}
{{- include "gloo-mesh-agent.referenceChecks" . }}
{{- if and (not .Values.serviceAccount.create) (eq .Values.serviceAccount.name "") }}
{{- fail "serviceAccount.create: false needs serviceAccount.name, the account that exists already" }}
{{- end }}
{{- range $label := list "app" "app.kubernetes.io/name" "app.kubernetes.io/part-of" "service" "sidecar.istio.io/inject" }}
{{- if hasKey $.Values.commonLabels $label }}
{{- fail (printf "commonLabels.%s: this chart sets it: leave it out" $label) }}
{{- end }}
{{- end }}
{{- range $name := list "CLUSTER" "RELAY_ADDRESS" "RELAY_AUTHORITY" "POD_NAMESPACE" "POD_NAME" "NODE_OPTIONS" }}
{{- if hasKey $.Values.extraEnvs $name }}
{{- fail (printf "extraEnvs.%s: this chart sets it: use the value of the chart for it (relay.cluster, relay.serverAddress, relay.authority, resources.limits.memory)" $name) }}
{{- end }}
{{- end }}
{{- if and .Values.relay.tokenSecret.name (hasKey .Values.extraEnvs "RELAY_TOKEN") }}
{{- fail "relay.tokenSecret.name and extraEnvs.RELAY_TOKEN both give the token: set one of them" }}
{{- end }}
{{- if eq .Values.mode "standard" }}
{{- if .Values.relay.serverAddress }}
{{- fail "relay.serverAddress has no effect with mode: standard, in which the management server connects to this cluster: remove one of them" }}
{{- end }}
{{- if .Values.dataPlane.wasm.enabled }}
{{- fail "dataPlane.wasm.enabled has no effect with mode: standard, in which the agent looks after certificates alone: remove one of them" }}
{{- end }}
{{- if ne .Release.Namespace .Values.relay.managementNamespace }}
{{- fail (printf "mode: standard: the management server stores its orders in namespace %s of this cluster: install the chart there, not in %s" .Values.relay.managementNamespace .Release.Namespace) }}
{{- end }}
{{- if not .Values.meshCertificates.namespaces }}
{{- fail "mode: standard: without meshCertificates.namespaces the agent may do nothing: name the namespaces of the control planes, such as istio-system" }}
{{- end }}
{{- end }}
{{- if and .Values.dataPlane.wasm.enabled (not .Values.dataPlane.enabled) }}
{{- fail "dataPlane.wasm.enabled has no effect without dataPlane.enabled, as proxies could not connect: enable both" }}
{{- end }}
{{- if and (or .Values.dataPlane.wasm.pullSecret .Values.dataPlane.wasm.insecureRegistries .Values.dataPlane.wasm.privateHosts) (not .Values.dataPlane.wasm.enabled) }}
{{- fail "dataPlane.wasm.pullSecret, dataPlane.wasm.insecureRegistries and dataPlane.wasm.privateHosts have no effect without dataPlane.wasm.enabled: enable it, or remove them" }}
{{- end }}
{{- if and .Values.dataPlane.from (not .Values.dataPlane.enabled) }}
{{- fail "dataPlane.from has no effect without dataPlane.enabled: enable it, or use networkPolicy.from for the port stats" }}
{{- end }}
{{- if and (has "*" .Values.limits.readNamespaces) (gt (len .Values.limits.readNamespaces) 1) }}
{{- fail "limits.readNamespaces: \"*\" is all namespaces: name either \"*\" or single namespaces" }}
{{- end }}
{{- end }}
