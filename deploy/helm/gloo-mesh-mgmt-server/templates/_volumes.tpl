{{- /*
Secrets as files. The program reads its own Secrets from the API server, where it can follow them: of those only what is public is
mounted, so that the kubelet does not start the container before they exist.
*/}}
{{- define "gloo-mesh-mgmt-server.volumes" -}}
{{- include "gloo-mesh-mgmt-server.redisVolumes" . }}
{{- if .Values.relay.disableCaCertGeneration }}
- name: relay-server-tls
  secret:
    secretName: relay-server-tls-secret
    items:
      - key: tls.crt
        path: tls.crt
{{- if not (or .Values.relay.disableCa .Values.relay.disableClientCertificateAuthentication) }}
- name: relay-tls-signing
  secret:
    secretName: relay-tls-signing-secret
    items:
      - key: tls.crt
        path: tls.crt
{{- end }}
{{- end }}
{{- if .Values.relay.disableTokenGeneration }}
- name: relay-identity-token
  secret:
    secretName: relay-identity-token-secret
    # Only root could read it, and the container does not run as root: no copy of the token is needed.
    defaultMode: 0
    items:
      - key: token
        path: token
{{- end }}
{{- end }}
