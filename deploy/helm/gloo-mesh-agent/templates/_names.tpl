{{- define "gloo-mesh-agent.name" -}}
{{ ternary "enterprise-agent" "gloo-mesh-agent" .Values.legacyNames }}
{{- end }}

{{- define "gloo-mesh-agent.selector" -}}
app: {{ include "gloo-mesh-agent.name" . }}
{{- end }}

{{- /* Without a chart version: a new version of the chart that changes nothing else restarts no pod. */}}
{{- define "gloo-mesh-agent.labels" -}}
{{ include "gloo-mesh-agent.selector" . }}
app.kubernetes.io/name: {{ include "gloo-mesh-agent.name" . }}
app.kubernetes.io/part-of: gloo-mesh
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The ServiceAccount that the pod runs as. */}}
{{- define "gloo-mesh-agent.account" -}}
{{ .Values.serviceAccount.name | default (include "gloo-mesh-agent.name" .) }}
{{- end }}

{{- define "gloo-mesh-agent.image" -}}
{{- $image := .Values.image -}}
{{ with $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "gloo-mesh-agent.electsLeader" -}}
{{- if or .Values.leaderElection (eq .Values.mode "standard") (gt (int .Values.replicas) 1) }}true{{ end }}
{{- end }}

{{- /* Whether proxies are served: an agent for certificates alone serves none. */}}
{{- define "gloo-mesh-agent.servesProxies" -}}
{{- if and .Values.dataPlane.enabled (ne .Values.mode "standard") }}true{{ end }}
{{- end }}

{{- /* Whether all namespaces are written, so that a ClusterRole has to say so. */}}
{{- define "gloo-mesh-agent.writesEverywhere" -}}
{{- if has "*" .Values.limits.writeNamespaces }}true{{ end }}
{{- end }}
