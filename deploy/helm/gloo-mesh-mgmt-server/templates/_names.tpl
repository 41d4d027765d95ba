{{- define "gloo-mesh-mgmt-server.name" -}}
{{ ternary "enterprise-networking" "gloo-mesh-mgmt-server" .Values.legacyNames }}
{{- end }}

{{- define "gloo-mesh-mgmt-server.selector" -}}
app: {{ include "gloo-mesh-mgmt-server.name" . }}
{{- end }}

{{- /* Without a chart version: a new version of the chart that changes nothing else restarts no pod. */}}
{{- define "gloo-mesh-mgmt-server.labels" -}}
{{ include "gloo-mesh-mgmt-server.selector" . }}
app.kubernetes.io/name: {{ include "gloo-mesh-mgmt-server.name" . }}
app.kubernetes.io/part-of: gloo-mesh
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The ServiceAccount that the pod runs as. */}}
{{- define "gloo-mesh-mgmt-server.account" -}}
{{ .Values.serviceAccount.name | default (include "gloo-mesh-mgmt-server.name" .) }}
{{- end }}

{{- /* Takes the image and the tag that it has by default. */}}
{{- define "gloo-mesh-mgmt-server.image" -}}
{{- $image := index . 0 -}}
{{ with $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}:{{ $image.tag | default (index . 1) }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "gloo-mesh-mgmt-server.electsLeader" -}}
{{- if or .Values.leaderElection (gt (int .Values.replicas) 1) }}true{{ end }}
{{- end }}

{{- /* Where Redis is; empty: nowhere. */}}
{{- define "gloo-mesh-mgmt-server.redisAddress" -}}
{{- if .Values.redis.deployment.enabled -}}
gloo-mesh-redis.{{ .Release.Namespace }}:{{ .Values.redis.deployment.port }}
{{- else -}}
{{ .Values.redis.address }}
{{- end -}}
{{- end }}

{{- /* Whether the console is installed; empty: it is not. */}}
{{- define "gloo-mesh-mgmt-server.hasConsole" -}}
{{- $enabled := toString .Values.glooUi.enabled -}}
{{- if eq $enabled "auto" -}}
{{- if and (ne (include "gloo-mesh-mgmt-server.redisAddress" .) "") (not .Values.legacyNames) }}true{{ end }}
{{- else if eq $enabled "true" -}}
true
{{- end -}}
{{- end }}

{{- define "gloo-mesh-mgmt-server.consoleLabels" -}}
app: gloo-mesh-ui
app.kubernetes.io/name: gloo-mesh-ui
app.kubernetes.io/part-of: gloo-mesh
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* A DNS name that the certificate of the server has, whichever it was made with. */}}
{{- define "gloo-mesh-mgmt-server.authority" -}}
{{ .Values.ingress.authority | default (printf "gloo-mesh-mgmt-server.%s" .Release.Namespace) }}
{{- end }}

{{- /* A part of a memory limit in MiB. Takes the limit, the name of its value, and the part in percent; empty without a limit. */}}
{{- define "gloo-mesh-mgmt-server.memoryShare" -}}
{{- $limit := toString (index . 0) -}}
{{- $percent := index . 2 -}}
{{- if hasSuffix "Gi" $limit -}}
{{- div (mul (trimSuffix "Gi" $limit | int64) 1024 $percent) 100 -}}
{{- else if hasSuffix "Mi" $limit -}}
{{- div (mul (trimSuffix "Mi" $limit | int64) $percent) 100 -}}
{{- else if ne $limit "" -}}
{{- fail (printf "%s: %s is not a whole number of Mi or Gi, from which other sizes follow: write it as 512Mi or 2Gi" (index . 1) $limit) -}}
{{- end -}}
{{- end }}
