{{/* Checks the names and labels of the values, which may be templates, as they come out. */}}
{{- define "newrelic-exporter.validateNames" -}}
{{- $runs := ne .Values.mode "none" }}
{{- $hasWorkload := has .Values.mode (list "deployment" "statefulset") }}
{{- $names := dict }}
{{- $nested := dict }}
{{- $hosts := dict }}
{{- $labels := dict "commonLabels" .Values.commonLabels }}
{{- if $runs }}
{{- $names = dict "configExistingConfigMap" .Values.configExistingConfigMap "apiKey.existingSecret" .Values.apiKey.existingSecret "web.configExistingSecret" .Values.web.configExistingSecret "web.tlsExistingSecret" .Values.web.tlsExistingSecret }}
{{- range $index, $account := .Values.accounts }}
{{- $_ := set $names (printf "accounts[%d].existingSecret" $index) $account.existingSecret }}
{{- end }}
{{- range $index, $entry := .Values.includeConfigMaps }}
{{- $_ := set $names (printf "includeConfigMaps[%d].name" $index) $entry.name }}
{{- end }}
{{- range $path, $secrets := dict "image.pullSecrets" .Values.image.pullSecrets "global.imagePullSecrets" .Values.global.imagePullSecrets }}
{{- range $index, $secret := $secrets }}
{{- $_ := set $names (printf "%s[%d]" $path $index) (kindIs "map" $secret | ternary $secret (dict "name" $secret)).name }}
{{- end }}
{{- end }}
{{- $nested = dict "extraEnv" .Values.extraEnv "extraEnvFrom" .Values.extraEnvFrom "extraVolumes" .Values.extraVolumes }}
{{- range $name, $fields := dict "serviceMonitor" (list "tlsConfig" "basicAuth") "podMonitor" (list "tlsConfig" "basicAuth") "scrapeConfig" (list "tlsConfig" "basicAuth") "podMonitoring" (list "tls" "basicAuth") }}
{{- $monitor := get $.Values $name }}
{{- if $monitor.enabled }}
{{- $_ := set $labels (printf "%s.labels" $name) $monitor.labels }}
{{- range $field := $fields }}
{{- $_ := set $nested (printf "%s.%s" $name $field) (get $monitor $field) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if $hasWorkload }}
{{- $nested = merge $nested (dict "extraContainers" .Values.extraContainers "extraInitContainers" .Values.extraInitContainers) }}
{{- $labels = merge $labels (dict "podLabels" .Values.podLabels "service.labels" .Values.service.labels) }}
{{- with .Values.ingress }}
{{- if .enabled }}
{{- $_ := set $nested "ingress.tls" .tls }}
{{- range $index, $host := .hosts }}
{{- $_ := set $hosts (printf "ingress.hosts[%d]" $index) (kindIs "map" $host | ternary $host (dict "host" $host)).host }}
{{- end }}
{{- range $index, $tls := .tls }}
{{- range $number, $host := $tls.hosts }}
{{- $_ := set $hosts (printf "ingress.tls[%d].hosts[%d]" $index $number) $host }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.httpRoute }}
{{- if .enabled }}
{{- $_ := set $labels "httpRoute.labels" .labels }}
{{- range $index, $host := .hostnames }}
{{- $_ := set $hosts (printf "httpRoute.hostnames[%d]" $index) $host }}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.vpa.enabled }}
{{- $_ := set $labels "vpa.labels" .Values.vpa.labels }}
{{- end }}
{{- end }}
{{- if .Values.prometheusRule.enabled }}
{{- $_ := set $labels "prometheusRule.labels" .Values.prometheusRule.labels }}
{{- end }}
{{- if or .Values.dashboards.enabled .Values.dashboards.grafanaOperator.enabled }}
{{- $_ := set $labels "dashboards.labels" .Values.dashboards.labels }}
{{- end }}
{{- range $path, $name := $names }}
{{- with $name }}
{{- include "newrelic-exporter.checkName" (list $ $path .) }}
{{- end }}
{{- end }}
{{- range $path, $value := $nested }}
{{- include "newrelic-exporter.checkNamesIn" (dict "root" $ "path" $path "parent" "" "value" $value) }}
{{- end }}
{{- range $path, $host := $hosts }}
{{- include "newrelic-exporter.checkHost" (list $ $path $host) }}
{{- end }}
{{- range $path, $map := $labels }}
{{- range $key, $value := $map }}
{{- include "newrelic-exporter.checkLabel" (list $ (printf "%s[%s]" $path $key) $value) }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Checks the names of Secrets and ConfigMaps within what Kubernetes defines, wherever they stand there. Call with
(dict "root" $ "path" PATH "parent" KEY "value" ANY), where parent is the key that the value stands under.
*/}}
{{- define "newrelic-exporter.checkNamesIn" -}}
{{- $named := list "secretKeyRef" "configMapKeyRef" "secretRef" "configMapRef" "secret" "configMap" "keySecret" "username" "password" "nodePublishSecretRef" }}
{{- if kindIs "map" .value }}
{{- range $key, $value := .value }}
{{- $path := printf "%s.%s" $.path $key }}
{{- if and (kindIs "string" $value) (or (eq $key "secretName") (and (eq $key "name") (has $.parent $named))) }}
{{- include "newrelic-exporter.checkName" (list $.root $path $value) }}
{{- else }}
{{- include "newrelic-exporter.checkNamesIn" (dict "root" $.root "path" $path "parent" $key "value" $value) }}
{{- end }}
{{- end }}
{{- else if kindIs "slice" .value }}
{{- range $index, $value := .value }}
{{- include "newrelic-exporter.checkNamesIn" (dict "root" $.root "path" (printf "%s[%d]" $.path $index) "parent" $.parent "value" $value) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Checks one name, host or value of a label. Call each with (list $ PATH TEXT). */}}
{{- define "newrelic-exporter.checkName" -}}
{{- $name := include "newrelic-exporter.text" (list (first .) (last .)) }}
{{- if or (gt (len $name) 253) (not (regexMatch `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$` $name)) }}
{{- fail (printf "%s is %s, but a Secret or ConfigMap has a name of at most 253 lower-case letters, digits, - and ., which begins and ends with a letter or digit: correct the name or its template" (index . 1) (include "newrelic-exporter.origin" (list $name (last .)))) }}
{{- end }}
{{- end }}

{{- define "newrelic-exporter.checkHost" -}}
{{- $host := include "newrelic-exporter.text" (list (first .) (last .)) }}
{{- if or (gt (len $host) 253) (not (regexMatch `^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$` $host)) }}
{{- fail (printf "%s is %s, but a host has a name of at most 253 lower-case letters, digits, - and ., such as exporter.example.com, without scheme and port: correct the name or its template" (index . 1) (include "newrelic-exporter.origin" (list $host (last .)))) }}
{{- end }}
{{- end }}

{{- define "newrelic-exporter.checkLabel" -}}
{{- $label := include "newrelic-exporter.text" (list (first .) (last .)) }}
{{- if not (regexMatch `^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$` $label) }}
{{- fail (printf "%s is %s, but a label has a value of at most 63 letters, digits, -, _ and ., which begins and ends with a letter or digit: correct the value or its template" (index . 1) (include "newrelic-exporter.origin" (list $label (last .)))) }}
{{- end }}
{{- end }}

{{/* What came out, and of which template. Call with (list RESULT TEXT). */}}
{{- define "newrelic-exporter.origin" -}}
{{- printf "%q" (first .) }}
{{- if contains "{{" (last .) }}
{{- printf ", made of %s" (last .) }}
{{- end }}
{{- end }}
