{{- /* Three quarters of the memory limit, in MiB. Takes the limit; empty without one: Node then chooses. */}}
{{- define "gloo-mesh-agent.heap" -}}
{{- $limit := toString . -}}
{{- if hasSuffix "Gi" $limit -}}
{{- div (mul (trimSuffix "Gi" $limit | int64) 1024 3) 4 -}}
{{- else if hasSuffix "Mi" $limit -}}
{{- div (mul (trimSuffix "Mi" $limit | int64) 3) 4 -}}
{{- else if ne $limit "" -}}
{{- fail (printf "resources.limits.memory: %s is not a whole number of Mi or Gi, from which the heap follows: write it as 512Mi or 2Gi" $limit) -}}
{{- end -}}
{{- end }}
