{{/*
Templates for the chart of another application that has this chart as a dependency in the mode "sidecar".
Call each with the scope of the dependency: index .Subcharts "newrelic-exporter".
*/}}

{{/* Labels of the pod: the PodMonitor finds it by them. */}}
{{- define "newrelic-exporter.sidecar.labels" -}}
{{ include "newrelic-exporter.podSelector" . }}
{{- end }}

{{/* "true" if the cluster supports native sidecars: init containers with restartPolicy Always. */}}
{{- define "newrelic-exporter.sidecar.isNative" -}}
{{- if eq (toString .Values.sidecar.native) "auto" }}
{{- semverCompare ">=1.29.0-0" .Capabilities.KubeVersion.Version }}
{{- else }}
{{- .Values.sidecar.native }}
{{- end }}
{{- end }}

{{/*
The security context of the container itself, so that it does not depend on that of the pod. It sets a user,
because the pod's user may be root, which runAsNonRoot refuses. Entries that are null or empty are removed.
*/}}
{{- define "newrelic-exporter.sidecar.securityContext" -}}
{{- $context := deepCopy .Values.securityContext }}
{{- range $key, $value := .Values.sidecar.securityContext }}
{{- if or (kindIs "invalid" $value) (eq (toString $value) "") }}
{{- $context = omit $context $key }}
{{- else }}
{{- $_ := set $context $key $value }}
{{- end }}
{{- end }}
{{- toYaml $context }}
{{- end }}

{{/*
The sidecar has no probes. The pod must not wait for New Relic, and a liveness probe would restart the
container, which takes the whole pod out of service; instead, --respawn watches the daemon from within.
*/}}
{{- define "newrelic-exporter.sidecar.container" -}}
{{- include "newrelic-exporter.validate" . }}
{{- $securityContext := include "newrelic-exporter.sidecar.securityContext" . | fromYaml }}
{{- include "newrelic-exporter.container" (dict "root" . "name" .Values.sidecar.containerName "portName" .Values.sidecar.portName "resources" .Values.sidecar.resources "securityContext" $securityContext "args" (list "--config.wait" "--respawn")) }}
{{- end }}

{{/* Defaults of poll: the applications that a sidecar lists hardly ever change. */}}
{{- define "newrelic-exporter.sidecar.poll" -}}
{{- $poll := deepCopy (default dict .Values.config.poll) }}
{{- if not (hasKey $poll "discovery_interval") }}
{{- $_ := set $poll "discovery_interval" "15m" }}
{{- end }}
{{- toYaml $poll }}
{{- end }}

{{/*
The entries of apps. By default a sidecar polls its own host and not the application itself, so that many
sidecars publish every host once. With "hosts: false" the application is polled, as nothing else is left. An
entry that excludes applications polls nothing, and may not say what.
*/}}
{{- define "newrelic-exporter.sidecar.apps" -}}
{{- range .Values.config.apps }}
{{- $app := deepCopy . }}
{{- if not $app.exclude }}
{{- if not (hasKey $app "hosts") }}
{{- $_ := set $app "hosts" "self" }}
{{- end }}
{{- if and (not (hasKey $app "application")) (ne (toString $app.hosts) "false") }}
{{- $_ := set $app "application" false }}
{{- end }}
{{- end }}
{{- list $app | toYaml | nindent 0 }}
{{- end }}
{{- end }}

{{/* Entries of initContainers: the sidecar, if it is a native one. */}}
{{- define "newrelic-exporter.sidecar.initContainers" -}}
{{- if eq (include "newrelic-exporter.sidecar.isNative" .) "true" }}
- restartPolicy: Always
  {{- include "newrelic-exporter.sidecar.container" . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Entries of containers: the sidecar, if it is a classic one. */}}
{{- define "newrelic-exporter.sidecar.containers" -}}
{{- if ne (include "newrelic-exporter.sidecar.isNative" .) "true" }}
-
  {{- include "newrelic-exporter.sidecar.container" . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Entries of imagePullSecrets. */}}
{{- define "newrelic-exporter.sidecar.imagePullSecrets" -}}
{{ include "newrelic-exporter.imagePullSecrets" . }}
{{- end }}

{{/* Entries of volumes. */}}
{{- define "newrelic-exporter.sidecar.volumes" -}}
{{ include "newrelic-exporter.volumes" . }}
{{- end }}

{{/*
A whole pod template with the sidecar in it. Call with (dict "template" MAP "exporter" SCOPE); MAP is the
application's own pod template: metadata and spec. The sidecar comes after all of its own init containers.
*/}}
{{- define "newrelic-exporter.sidecar.inject" -}}
{{- $template := deepCopy .template }}
{{- $metadata := default dict $template.metadata }}
{{- $labels := merge (fromYaml (include "newrelic-exporter.sidecar.labels" .exporter)) (default dict $metadata.labels) }}
{{- $_ := set $metadata "labels" $labels }}
{{- $_ := set $template "metadata" $metadata }}
{{- range $key := list "imagePullSecrets" "initContainers" "containers" "volumes" }}
{{- $own := default list (get $template.spec $key) }}
{{- $added := fromYamlArray (include (printf "newrelic-exporter.sidecar.%s" $key) $.exporter) }}
{{- with concat $own $added | uniq }}
{{- $_ := set $template.spec $key . }}
{{- end }}
{{- end }}
{{- toYaml $template }}
{{- end }}
