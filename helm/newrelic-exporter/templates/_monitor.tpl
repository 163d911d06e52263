{{/* What a monitor scrapes. Call with (dict "root" $ "monitor" MAP "port" NAME). */}}
{{- define "newrelic-exporter.endpoint" -}}
port: {{ .port }}
path: {{ .root.Values.web.telemetryPath }}
{{- if eq .root.Values.web.scheme "https" }}
scheme: https
{{- end }}
{{- with .monitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.basicAuth }}
basicAuth:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.interval }}
interval: {{ . | quote }}
{{- end }}
{{- with .monitor.scrapeTimeout }}
scrapeTimeout: {{ . | quote }}
{{- end }}
{{- with .monitor.relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
