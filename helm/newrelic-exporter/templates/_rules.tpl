{{/* The names of all alerts of the chart, whether their groups are on or off, as a list. */}}
{{- define "newrelic-exporter.alertNames" -}}
{{- range $path, $_ := .Files.Glob "rules/*.yaml" }}
{{- range ($.Files.Get $path | fromYaml).groups }}
{{- range .rules }}
{{- with .alert }}
- {{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/*
The groups of rules without the alerts that are disabled, and with what the values override, as a list. A group of
which nothing is left is left out. Call with (list $ GROUPS).
*/}}
{{- define "newrelic-exporter.adaptedGroups" -}}
{{- $values := (first .).Values.prometheusRule }}
{{- $groups := list }}
{{- range $group := last . }}
{{- $rules := list }}
{{- range $rule := $group.rules }}
{{- $name := default "" $rule.alert }}
{{- if not (has $name $values.disabled) }}
{{- $override := default dict (get $values.overrides $name) }}
{{- with $override.for }}
{{- $_ := set $rule "for" . }}
{{- end }}
{{- range $field := list "labels" "annotations" }}
{{- range $key, $value := default dict (get $override $field) }}
{{- $_ := set $rule $field (set (default dict (get $rule $field)) $key $value) }}
{{- end }}
{{- end }}
{{- $rules = append $rules $rule }}
{{- end }}
{{- end }}
{{- if $rules }}
{{- $groups = append $groups (set $group "rules" $rules) }}
{{- end }}
{{- end }}
{{- toYaml $groups }}
{{- end }}

{{/* Checks that what is disabled or overridden are alerts of the chart, and that no alert is both. */}}
{{- define "newrelic-exporter.validateAlerts" -}}
{{- $known := include "newrelic-exporter.alertNames" . | fromYamlArray }}
{{- range $value, $names := dict "disabled" .Values.prometheusRule.disabled "overrides" (keys .Values.prometheusRule.overrides | sortAlpha) }}
{{- range $name := $names }}
{{- if not (has $name $known) }}
{{- fail (printf "prometheusRule.%s has %s, which is no alert of the chart: %s" $value $name (include "newrelic-exporter.meantAlerts" (list $name $known))) }}
{{- end }}
{{- end }}
{{- end }}
{{- range .Values.prometheusRule.disabled }}
{{- if hasKey $.Values.prometheusRule.overrides . }}
{{- fail (printf "prometheusRule.disabled and prometheusRule.overrides both have %s, but an alert that is off cannot be changed: remove it from one of them" .) }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Which alerts a wrong name may mean: those that have what is special about it in their own names, or all. Call with
(list NAME NAMES).
*/}}
{{- define "newrelic-exporter.meantAlerts" -}}
{{- $name := first . | lower | trimPrefix "newrelic" | trimPrefix "exporter" | trimPrefix "application" }}
{{- $meant := list }}
{{- range last . }}
{{- $own := lower . | trimPrefix "newrelic" | trimPrefix "exporter" | trimPrefix "application" }}
{{- if and $name (or (contains $name $own) (contains $own $name) (eq (trunc 6 $name) (trunc 6 $own))) }}
{{- $meant = append $meant . }}
{{- end }}
{{- end }}
{{- with $meant }}
{{- printf "did you mean %s?" (join " or " .) }}
{{- else }}
{{- printf "its alerts are %s; those of extraGroups are changed there" (last . | join ", ") }}
{{- end }}
{{- end }}
