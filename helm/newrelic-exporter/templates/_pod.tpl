{{/*
The exporter's container. Call with (dict "root" $ "name" NAME "portName" PORT "resources" MAP
"securityContext" MAP "args" LIST), where args are the arguments for the mode.
*/}}
{{- define "newrelic-exporter.container" -}}
{{- $root := .root }}
{{- with $root.Values }}
name: {{ $.name | quote }}
image: {{ include "newrelic-exporter.image" $root | quote }}
imagePullPolicy: {{ .image.pullPolicy }}
args:
  - --config.file=/etc/newrelic-exporter/config.yaml
  - --web.listen-address=:{{ .web.port }}
  - --web.telemetry-path={{ .web.telemetryPath }}
  {{- if .web.enableLifecycle }}
  - --web.enable-lifecycle
  {{- end }}
  {{- if .web.configExistingSecret }}
  - {{ printf "--web.config.file=/etc/newrelic-exporter-web/%s" .web.configExistingSecretKey | quote }}
  {{- end }}
  - --log.level={{ .log.level }}
  - --log.format={{ .log.format }}
  {{- range concat $.args .extraArgs }}
  - {{ . | quote }}
  {{- end }}
{{ include "newrelic-exporter.environment" $root }}
ports:
  - name: {{ $.portName | quote }}
    containerPort: {{ .web.port }}
    protocol: TCP
securityContext:
  {{- toYaml $.securityContext | nindent 2 }}
{{- with $.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{ include "newrelic-exporter.volumeMounts" $root }}
{{- end }}
{{- end }}

{{/* The variables of a container that reads the configuration. Each name is there once, or Kubernetes would refuse it. */}}
{{- define "newrelic-exporter.environment" -}}
{{- $names := list }}
{{- range .Values.extraEnv }}
{{- $names = append $names .name }}
{{- end -}}
env:
  {{- if not (has "POD_NAME" $names) }}
  - name: POD_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- include "newrelic-exporter.yaml" (list $ .) | nindent 2 }}
  {{- end }}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- include "newrelic-exporter.yaml" (list $ .) | nindent 2 }}
{{- end }}
{{- end }}

{{/* What such a container mounts of the volumes below. */}}
{{- define "newrelic-exporter.volumeMounts" -}}
volumeMounts:
  - name: {{ include "newrelic-exporter.volumeName" (dict "root" $ "name" "config") | quote }}
    mountPath: /etc/newrelic-exporter
    readOnly: true
  {{- range fromYamlArray (include "newrelic-exporter.includes" $) }}
  - name: {{ include "newrelic-exporter.volumeName" (dict "root" $ "name" .volume) | quote }}
    mountPath: {{ .directory }}
    readOnly: true
  {{- end }}
  {{- range fromYamlArray (include "newrelic-exporter.keys" $) }}
  - name: {{ include "newrelic-exporter.volumeName" (dict "root" $ "name" .volume) | quote }}
    mountPath: {{ .directory }}
    readOnly: true
  {{- end }}
  {{- range fromYamlArray (include "newrelic-exporter.webSecrets" $) }}
  - name: {{ include "newrelic-exporter.volumeName" (dict "root" $ "name" .volume) | quote }}
    mountPath: {{ .directory }}
    readOnly: true
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Volumes of a sidecar must not have the same names as other volumes of its pod. */}}
{{- define "newrelic-exporter.volumeName" -}}
{{- ternary (printf "newrelic-exporter-%s" .name) .name (eq .root.Values.mode "sidecar") }}
{{- end }}

{{/*
Mounted as directories, so that changes of the ConfigMap and the Secrets arrive, and readable by any user.
They are optional for a sidecar, because the pod of the application must not wait for them, and with
"optional" in the scope.
*/}}
{{- define "newrelic-exporter.volumes" -}}
- name: {{ include "newrelic-exporter.volumeName" (dict "root" . "name" "config") | quote }}
  configMap:
    name: {{ include "newrelic-exporter.configMapName" . | quote }}
    {{- if or .optional (eq .Values.mode "sidecar") }}
    optional: true
    {{- end }}
{{- range fromYamlArray (include "newrelic-exporter.includes" .) }}
- name: {{ include "newrelic-exporter.volumeName" (dict "root" $ "name" .volume) | quote }}
  configMap:
    name: {{ .configMap | quote }}
    {{- if or .optional $.optional (eq $.Values.mode "sidecar") }}
    optional: true
    {{- end }}
{{- end }}
{{- range fromYamlArray (include "newrelic-exporter.keys" .) }}
- name: {{ include "newrelic-exporter.volumeName" (dict "root" $ "name" .volume) | quote }}
  secret:
    secretName: {{ .secret | quote }}
    defaultMode: 0444
    {{- if or $.optional (eq $.Values.mode "sidecar") }}
    optional: true
    {{- end }}
    items:
      - key: {{ .key | quote }}
        path: api-key
{{- end }}
{{- range fromYamlArray (include "newrelic-exporter.webSecrets" .) }}
- name: {{ include "newrelic-exporter.volumeName" (dict "root" $ "name" .volume) | quote }}
  secret:
    secretName: {{ .secret | quote }}
    defaultMode: 0444
    {{- if or $.optional (eq $.Values.mode "sidecar") }}
    optional: true
    {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ include "newrelic-exporter.yaml" (list $ .) }}
{{- end }}
{{- end }}

{{/*
The ConfigMaps with files to include, as a list of volumes with the directories that they are mounted in: below that
of the configuration file, where the kubelet makes mount points in the volume above, and named like the ConfigMap, so
that messages of the exporter say whose file it is.
*/}}
{{- define "newrelic-exporter.includes" -}}
{{- $includes := list }}
{{- range $index, $entry := .Values.includeConfigMaps }}
{{- $name := include "newrelic-exporter.text" (list $ $entry.name) }}
{{- $includes = append $includes (dict "volume" (printf "include-%d" $index) "configMap" $name "directory" (printf "/etc/newrelic-exporter/teams/%s" $name) "optional" $entry.optional) }}
{{- end }}
{{- toYaml $includes }}
{{- end }}

{{/* The Secrets of the web configuration, as a list of volumes with the directories that they are mounted in. */}}
{{- define "newrelic-exporter.webSecrets" -}}
{{- $secrets := list }}
{{- with .Values.web.configExistingSecret }}
{{- $name := include "newrelic-exporter.text" (list $ .) }}
{{- $secrets = append $secrets (dict "volume" "web-config" "secret" $name "directory" "/etc/newrelic-exporter-web") }}
{{- end }}
{{- with .Values.web.tlsExistingSecret }}
{{- $name := include "newrelic-exporter.text" (list $ .) }}
{{- $secrets = append $secrets (dict "volume" "web-tls" "secret" $name "directory" "/etc/newrelic-exporter-tls") }}
{{- end }}
{{- toYaml $secrets }}
{{- end }}

{{/* A probe, which asks over HTTPS if the exporter speaks it. Call with (dict "root" $ "probe" MAP). */}}
{{- define "newrelic-exporter.probe" -}}
{{- $probe := deepCopy .probe }}
{{- if and (eq .root.Values.web.scheme "https") $probe.httpGet }}
{{- $_ := set $probe "httpGet" (merge $probe.httpGet (dict "scheme" "HTTPS")) }}
{{- end }}
{{- toYaml $probe }}
{{- end }}

{{/* The pod of the Deployment and of the StatefulSet. */}}
{{- define "newrelic-exporter.podTemplate" -}}
{{- $args := list }}
{{- if eq .Values.sharding.mode "static" }}
{{- $args = list (printf "--total-shards=%d" (int .Values.replicas)) }}
{{- end }}
metadata:
  labels:
    {{- include "newrelic-exporter.podLabels" . | nindent 4 }}
  {{- if or .Values.podAnnotations (eq .Values.configReload "rollout") }}
  annotations:
    {{- if eq .Values.configReload "rollout" }}
    checksum/config: {{ include "newrelic-exporter.config" . | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- include "newrelic-exporter.yaml" (list $ .) | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  serviceAccountName: {{ include "newrelic-exporter.serviceAccountName" . | quote }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with include "newrelic-exporter.imagePullSecrets" . }}
  imagePullSecrets:
    {{- . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- toYaml .Values.podSecurityContext | nindent 4 }}
  terminationGracePeriodSeconds: {{ int64 .Values.terminationGracePeriodSeconds }}
  {{- if .Values.hostNetwork }}
  hostNetwork: true
  {{- end }}
  {{- with .Values.dnsPolicy | default (ternary "ClusterFirstWithHostNet" "" .Values.hostNetwork) }}
  dnsPolicy: {{ . }}
  {{- end }}
  {{- with .Values.extraInitContainers }}
  initContainers:
    {{- include "newrelic-exporter.yaml" (list $ .) | nindent 4 }}
  {{- end }}
  containers:
    -
      {{- include "newrelic-exporter.container" (dict "root" . "name" "newrelic-exporter" "portName" "http-metrics" "resources" .Values.resources "securityContext" .Values.securityContext "args" $args) | nindent 6 }}
      {{- with .Values.startupProbe }}
      startupProbe:
        {{- include "newrelic-exporter.probe" (dict "root" $ "probe" .) | nindent 8 }}
      {{- end }}
      {{- with .Values.livenessProbe }}
      livenessProbe:
        {{- include "newrelic-exporter.probe" (dict "root" $ "probe" .) | nindent 8 }}
      {{- end }}
      {{- with .Values.readinessProbe }}
      readinessProbe:
        {{- include "newrelic-exporter.probe" (dict "root" $ "probe" .) | nindent 8 }}
      {{- end }}
      {{- with .Values.lifecycle }}
      lifecycle:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- with .Values.extraContainers }}
    {{- include "newrelic-exporter.yaml" (list $ .) | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "newrelic-exporter.volumes" . | nindent 4 }}
  {{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "priorityClassName" "dnsConfig" "hostAliases" }}
  {{- with get $.Values $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end }}
