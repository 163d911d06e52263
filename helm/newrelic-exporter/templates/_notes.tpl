{{/* Addresses of the exporter outside of the cluster, as a list. */}}
{{- define "newrelic-exporter.addresses" -}}
{{- $addresses := list }}
{{- $tls := list }}
{{- with .Values.ingress }}
{{- if .enabled }}
{{- range .tls }}
{{- $tls = concat $tls (include "newrelic-exporter.yaml" (list $ (default list .hosts)) | fromYamlArray) }}
{{- end }}
{{- range .hosts }}
{{- $host := kindIs "string" . | ternary (dict "host" .) . }}
{{- $name := include "newrelic-exporter.text" (list $ $host.host) }}
{{- range default (list dict) $host.paths }}
{{- $addresses = append $addresses (printf "%s://%s%s" (ternary "https" "http" (has $name $tls)) $name (default "/" .path)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.httpRoute }}
{{- if .enabled }}
{{- range .hostnames }}
{{- $addresses = append $addresses (printf "%s, by the Gateway" (include "newrelic-exporter.text" (list $ .))) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $addresses }}
{{- end }}

{{/* What the notes warn of, as a list of sentences. */}}
{{- define "newrelic-exporter.warnings" -}}
{{- $warnings := include "newrelic-exporter.missing" . | fromYamlArray }}
{{- with .Values.prometheusRule }}
{{- if and .enabled (not (or .groups.recording .groups.exporter .groups.applications .extraGroups)) }}
{{- $warnings = append $warnings "prometheusRule.enabled is true, but all its groups are off, so no PrometheusRule is installed." }}
{{- end }}
{{- end }}
{{- $asValue := ne .Values.apiKey.value "" }}
{{- range .Values.accounts }}
{{- $asValue = or $asValue .value }}
{{- end }}
{{- if $asValue }}
{{- $warnings = append $warnings "an API key was set as a value, so it is in the history of the release. Except for trials, use an existing Secret." }}
{{- end }}
{{- toYaml $warnings }}
{{- end }}

{{/*
Sentences about the Secrets and the ConfigMap that the values name, but the cluster does not have. Without a
cluster ("helm template") "lookup" finds nothing at all, and the kinds of the API are not known either.
Only in the namespace of the release, whose Secrets Helm itself reads.
*/}}
{{- define "newrelic-exporter.missing" -}}
{{- $namespace := include "newrelic-exporter.namespace" . }}
{{- $missing := list }}
{{- if and .Values.lookup (ne .Values.mode "none") (eq $namespace .Release.Namespace) (.Capabilities.APIVersions.Has "v1/Secret") }}
{{- $wanted := list }}
{{- with .Values.configExistingConfigMap }}
{{- $wanted = append $wanted (dict "kind" "ConfigMap" "name" . "key" "config.yaml" "value" "configExistingConfigMap") }}
{{- end }}
{{- range $index, $entry := .Values.includeConfigMaps }}
{{- if not $entry.optional }}
{{- $wanted = append $wanted (dict "kind" "ConfigMap" "name" $entry.name "key" "" "value" (printf "includeConfigMaps[%d].name" $index)) }}
{{- end }}
{{- end }}
{{- with .Values.apiKey }}
{{- if .existingSecret }}
{{- $wanted = append $wanted (dict "kind" "Secret" "name" .existingSecret "key" .existingSecretKey "value" "apiKey.existingSecret") }}
{{- end }}
{{- end }}
{{- range $index, $account := .Values.accounts }}
{{- with $account.existingSecret }}
{{- $key := default "api-key" $account.existingSecretKey }}
{{- $wanted = append $wanted (dict "kind" "Secret" "name" . "key" $key "value" (printf "accounts[%d].existingSecret" $index)) }}
{{- end }}
{{- end }}
{{- with .Values.web.configExistingSecret }}
{{- $wanted = append $wanted (dict "kind" "Secret" "name" . "key" $.Values.web.configExistingSecretKey "value" "web.configExistingSecret") }}
{{- end }}
{{- with .Values.web.tlsExistingSecret }}
{{- $wanted = append $wanted (dict "kind" "Secret" "name" . "key" "" "value" "web.tlsExistingSecret") }}
{{- end }}
{{- $waits := ternary "the exporter waits for it" "the pods cannot start without it" (eq .Values.mode "sidecar") }}
{{- range $wanted }}
{{- $name := include "newrelic-exporter.text" (list $ .name) }}
{{- $found := lookup "v1" .kind $namespace $name }}
{{- if not $found }}
{{- $missing = append $missing (printf "the namespace %s has no %s %s, which %s names: %s." $namespace .kind $name .value $waits) }}
{{- else if and .key (not (hasKey (default dict $found.data) .key)) }}
{{- $missing = append $missing (printf "the %s %s, which %s names, has no key %s: %s." .kind $name .value .key $waits) }}
{{- else if and (eq .value "configExistingConfigMap") $.Values.includeConfigMaps (not (regexMatch `(?m)^['"]?include\b` (get $found.data .key))) }}
{{- $missing = append $missing (printf "the configuration in the ConfigMap %s includes no files, so what includeConfigMaps names is not read: add the line include: [\"teams/*/*.yaml\"] to it." $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $missing }}
{{- end }}
