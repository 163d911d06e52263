{{/*
A text of the values, which may be a template. Call with (list $ TEXT). Most are none, and "tpl" of old
Helms needs more of the scope than that of a sidecar has.
*/}}
{{- define "newrelic-exporter.text" -}}
{{- if contains "{{" (last .) }}
{{- tpl (last .) (first .) }}
{{- else }}
{{- last . }}
{{- end }}
{{- end }}

{{/*
A value as JSON, each text in it rendered by itself: what comes out is always a text, whatever signs it has. Keys
are left as they are. Call with (list $ VALUE).
*/}}
{{- define "newrelic-exporter.json" -}}
{{- $root := first . }}
{{- $value := last . }}
{{- $parts := list }}
{{- if kindIs "map" $value }}
{{- range $key, $value := $value }}
{{- $parts = append $parts (printf "%s:%s" (toJson $key) (include "newrelic-exporter.json" (list $root $value))) }}
{{- end }}
{{- printf "{%s}" (join "," $parts) }}
{{- else if kindIs "slice" $value }}
{{- range $value }}
{{- $parts = append $parts (include "newrelic-exporter.json" (list $root .)) }}
{{- end }}
{{- printf "[%s]" (join "," $parts) }}
{{- else if kindIs "string" $value }}
{{- include "newrelic-exporter.text" (list $root $value) | toJson }}
{{- else }}
{{- toJson $value }}
{{- end }}
{{- end }}

{{/* A value as YAML, its texts rendered. Call with (list $ VALUE). */}}
{{- define "newrelic-exporter.yaml" -}}
{{- $json := include "newrelic-exporter.json" . }}
{{- get (printf `{"value":%s}` $json | fromJson) "value" | toYaml }}
{{- end }}
