{{- /* How the programs of this chart connect to Redis. */}}
{{- define "gloo-mesh-mgmt-server.redisArguments" -}}
{{- $redis := .Values.redis }}
{{- with include "gloo-mesh-mgmt-server.redisAddress" . }}
- --redis-address={{ . }}
- --redis-db={{ int $redis.db }}
{{- end }}
{{- if $redis.certs.enabled }}
- --redis-ca=/etc/redis-certs/ca.crt
{{- with $redis.certs.serverName }}
- --redis-server-name={{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Takes the values `redis`, and the name of the Secret with user and password. */}}
{{- define "gloo-mesh-mgmt-server.redisVariables" -}}
{{- $redis := index . 0 }}
{{- $secretName := index . 1 }}
{{- if $redis.auth.enabled }}
{{- if not $redis.deployment.enabled }}
- name: REDIS_USERNAME
  valueFrom:
    secretKeyRef:
      name: {{ $secretName }}
      key: {{ $redis.auth.usernameKey }}
      optional: true
{{- end }}
- name: REDIS_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ $secretName }}
      key: {{ $redis.auth.passwordKey }}
{{- end }}
{{- end }}

{{- define "gloo-mesh-mgmt-server.redisVolumes" -}}
{{- if .Values.redis.certs.enabled }}
- name: redis-certs
  secret:
    secretName: {{ .Values.redis.certs.secretName }}
    items:
      - key: {{ .Values.redis.certs.caCertKey }}
        path: ca.crt
{{- end }}
{{- end }}
