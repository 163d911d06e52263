{{/* The chart's name in labels. */}}
{{- define "newrelic-exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of all objects; short enough for the suffixes that are added to it. */}}
{{- define "newrelic-exporter.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- $name := include "newrelic-exporter.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "newrelic-exporter.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "newrelic-exporter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "newrelic-exporter.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/*
Labels in the order of their weight, the lightest first: those of the chart, of the release, of all objects
(commonLabels), of the one object. Nothing changes the labels that selectors look for.
Call with (dict "root" $ "chart" MAP "own" LIST), where own are maps or null.
*/}}
{{- define "newrelic-exporter.mergedLabels" -}}
{{- $labels := set .chart "app.kubernetes.io/managed-by" .root.Release.Service }}
{{- if .root.Values.releaseLabel }}
{{- $_ := set $labels "release" .root.Release.Name }}
{{- end }}
{{- range prepend .own .root.Values.commonLabels }}
{{- $labels = mergeOverwrite $labels (default dict .) }}
{{- end }}
{{- include "newrelic-exporter.yaml" (list .root (mergeOverwrite $labels (include "newrelic-exporter.selectorLabels" .root | fromYaml))) }}
{{- end }}

{{/* The labels of an object. Call with a list: the scope, then maps of labels that only this object has. */}}
{{- define "newrelic-exporter.labelsOf" -}}
{{- $root := first . }}
{{- $name := printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- $chart := dict "helm.sh/chart" $name "app.kubernetes.io/version" $root.Chart.AppVersion }}
{{- include "newrelic-exporter.mergedLabels" (dict "root" $root "chart" $chart "own" (rest .)) }}
{{- end }}

{{/* The labels of an object that has none of its own. */}}
{{- define "newrelic-exporter.labels" -}}
{{- include "newrelic-exporter.labelsOf" (list .) }}
{{- end }}

{{/* The labels of the pods. No version is among them: a new version of the chart alone must not restart a pod. */}}
{{- define "newrelic-exporter.podLabels" -}}
{{- include "newrelic-exporter.mergedLabels" (dict "root" . "chart" dict "own" (list .Values.podLabels)) }}
{{- end }}

{{/* The labels of a pod of "helm test", which no selector may find. */}}
{{- define "newrelic-exporter.testLabels" -}}
{{- $name := printf "%s-test" (include "newrelic-exporter.name" . | trunc 58 | trimSuffix "-") }}
{{- set (include "newrelic-exporter.labels" . | fromYaml) "app.kubernetes.io/name" $name | toYaml }}
{{- end }}

{{/* A label that every pod with an exporter has, whether standalone or as a sidecar. */}}
{{- define "newrelic-exporter.podSelector" -}}
{{- if eq .Values.mode "sidecar" -}}
newrelic-exporter/sidecar: {{ include "newrelic-exporter.fullname" . | quote }}
{{- else -}}
{{ include "newrelic-exporter.selectorLabels" . }}
{{- end }}
{{- end }}

{{- define "newrelic-exporter.portName" -}}
{{- ternary .Values.sidecar.portName "http-metrics" (eq .Values.mode "sidecar") }}
{{- end }}

{{- define "newrelic-exporter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "newrelic-exporter.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "newrelic-exporter.image" -}}
{{- $registry := default .Values.image.registry .Values.global.imageRegistry }}
{{- $repository := ternary (printf "%s/%s" $registry .Values.image.repository) .Values.image.repository (ne $registry "") }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* Entries of imagePullSecrets; the values are names, or objects with a name, as in Kubernetes. */}}
{{- define "newrelic-exporter.imagePullSecrets" -}}
{{- $names := list }}
{{- range concat .Values.global.imagePullSecrets .Values.image.pullSecrets }}
{{- $secret := kindIs "map" . | ternary . (dict "name" .) }}
{{- $names = append $names (include "newrelic-exporter.text" (list $ $secret.name)) }}
{{- end }}
{{- range uniq $names }}
- name: {{ . | quote }}
{{- end }}
{{- end }}

{{/* The IP families of all Services, as YAML; nothing if the values leave them to the cluster. */}}
{{- define "newrelic-exporter.ipFamilies" -}}
{{- $families := dict }}
{{- with .Values.service.ipFamilyPolicy }}
{{- $_ := set $families "ipFamilyPolicy" . }}
{{- end }}
{{- with .Values.service.ipFamilies }}
{{- $_ := set $families "ipFamilies" . }}
{{- end }}
{{- with $families }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{/*
The headless Service of the StatefulSet. It once served peers. The name stays, because serviceName cannot
be changed: with another name, "helm upgrade" of a release with shards would be refused.
*/}}
{{- define "newrelic-exporter.headlessName" -}}
{{ include "newrelic-exporter.fullname" . }}-peers
{{- end }}

{{/* The name of the ConfigMap and the Secret that the chart makes, or of those that a hook has of its own. */}}
{{- define "newrelic-exporter.ownName" -}}
{{- default (include "newrelic-exporter.fullname" .) .ownName }}
{{- end }}

{{- define "newrelic-exporter.configMapName" -}}
{{- include "newrelic-exporter.text" (list . .Values.configExistingConfigMap) | default (include "newrelic-exporter.ownName" .) }}
{{- end }}

{{/* Every API key that is mounted, as YAML: a list of volume, directory, Secret, and key of its data. */}}
{{- define "newrelic-exporter.keys" -}}
{{- $own := include "newrelic-exporter.ownName" . }}
{{- if or .Values.apiKey.existingSecret .Values.apiKey.value }}
- volume: api-key
  directory: /var/run/secrets/newrelic/default
  secret: {{ include "newrelic-exporter.text" (list . .Values.apiKey.existingSecret) | default $own | quote }}
  key: {{ ternary .Values.apiKey.existingSecretKey "api-key" (ne .Values.apiKey.existingSecret "") | quote }}
  account: ""
{{- end }}
{{- range $index, $account := .Values.accounts }}
- volume: api-key-{{ $index }}
  directory: /var/run/secrets/newrelic/account-{{ $index }}
  secret: {{ include "newrelic-exporter.text" (list $ (default "" $account.existingSecret)) | default $own | quote }}
  key: {{ ternary (default "api-key" $account.existingSecretKey) (printf "account-%d" $index) (ne (default "" $account.existingSecret) "") | quote }}
  account: {{ $account.name | quote }}
{{- end }}
{{- end }}

{{/* The data of the Secret with the API keys that are given as values; an empty map without any. */}}
{{- define "newrelic-exporter.keyValues" -}}
{{- $values := dict }}
{{- with .Values.apiKey.value }}
{{- $_ := set $values "api-key" (b64enc .) }}
{{- end }}
{{- range $index, $account := .Values.accounts }}
{{- with $account.value }}
{{- $_ := set $values (printf "account-%d" $index) (b64enc .) }}
{{- end }}
{{- end }}
{{- toYaml $values }}
{{- end }}

{{/*
The configuration, with the files that the API keys are mounted as. All sidecars share a key, and each
needs about one call a minute: what the values leave open is set to suit that.
*/}}
{{- define "newrelic-exporter.config" -}}
{{- $config := deepCopy .Values.config }}
{{- $files := dict }}
{{- range fromYamlArray (include "newrelic-exporter.keys" .) }}
{{- $_ := set $files .account (printf "%s/api-key" .directory) }}
{{- end }}
{{- $accounts := $config.accounts }}
{{- if not $accounts }}
{{- $accounts = list }}
{{- range .Values.accounts }}
{{- $accounts = append $accounts (dict "name" .name) }}
{{- end }}
{{- if not $accounts }}
{{- $accounts = list (dict "name" "default") }}
{{- end }}
{{- end }}
{{- $complete := list }}
{{- $isSidecar := eq .Values.mode "sidecar" }}
{{- range $accounts }}
{{- $file := default (get $files "") (get $files .name) }}
{{- $account := deepCopy . }}
{{- if and $file (not .api_key_file) (not .api_key_env) }}
{{- $_ := set $account "api_key_file" $file }}
{{- end }}
{{- if and $isSidecar (not (hasKey . "requests_per_minute")) }}
{{- $_ := set $account "requests_per_minute" 30 }}
{{- end }}
{{- $complete = append $complete $account }}
{{- end }}
{{- $_ := set $config "accounts" $complete }}
{{- if $isSidecar }}
{{- $_ := set $config "poll" (include "newrelic-exporter.sidecar.poll" . | fromYaml) }}
{{- $_ := set $config "apps" (include "newrelic-exporter.sidecar.apps" . | fromYamlArray) }}
{{- end }}
{{- if and .Values.includeConfigMaps (not $config.include) }}
{{- $_ := set $config "include" (list "teams/*/*.yaml") }}
{{- end }}
{{- range list "poll" "include" "apps" "queries" }}
{{- if not (get $config .) }}
{{- $_ := unset $config . }}
{{- end }}
{{- end }}
{{- toYaml $config }}
{{- end }}
