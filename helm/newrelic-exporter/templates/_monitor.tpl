{{/*
The entries of a map that are set, as YAML. Call with (dict "from" MAP "keys" LIST "with" MAP), where "with"
are entries that the values do not have.
*/}}
{{- define "newrelic-exporter.given" -}}
{{- $given := deepCopy .with }}
{{- range $key := .keys }}
{{- with get $.from $key }}
{{- $_ := set $given $key . }}
{{- end }}
{{- end }}
{{- with $given }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{/*
How targets are scraped, which a monitor and a ScrapeConfig name alike. Call with (dict "root" $ "monitor" MAP
"with" MAP "keys" LIST), where keys are those that only the one has.
*/}}
{{- define "newrelic-exporter.scraping" -}}
{{- $with := deepCopy .with }}
{{- if eq (default .root.Values.web.scheme .monitor.scheme) "https" }}
{{- $_ := set $with "scheme" "https" }}
{{- end }}
{{- $monitor := .monitor }}
{{- $root := .root }}
{{- range $key := list "tlsConfig" "basicAuth" }}
{{- with get $monitor $key }}
{{- $_ := set $with $key (include "newrelic-exporter.yaml" (list $root .) | fromYaml) }}
{{- end }}
{{- end }}
{{- $keys := list "honorLabels" "proxyUrl" "relabelings" "metricRelabelings" }}
{{- include "newrelic-exporter.given" (dict "from" .monitor "keys" (concat $keys .keys) "with" $with) }}
{{- end }}

{{/* What a monitor scrapes. Call with (dict "root" $ "monitor" MAP "port" NAME). */}}
{{- define "newrelic-exporter.endpoint" -}}
{{- $with := dict "port" .port "path" .root.Values.web.telemetryPath }}
{{- include "newrelic-exporter.scraping" (merge (dict "with" $with "keys" (list "interval" "scrapeTimeout")) .) }}
{{- end }}

{{/* What a monitor says of all its targets; nothing by default. Call with the map of the monitor. */}}
{{- define "newrelic-exporter.monitored" -}}
{{- $keys := list "jobLabel" "targetLabels" "podTargetLabels" "attachMetadata" }}
{{- $keys = concat $keys (include "newrelic-exporter.limits" . | fromYamlArray) }}
{{- include "newrelic-exporter.given" (dict "from" . "keys" $keys "with" dict) }}
{{- end }}

{{/* The names of the limits of a scrape. */}}
{{- define "newrelic-exporter.limits" -}}
[sampleLimit, targetLimit, labelLimit, labelNameLengthLimit, labelValueLengthLimit]
{{- end }}
