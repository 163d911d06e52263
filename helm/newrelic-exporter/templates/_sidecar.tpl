{{/*
For the chart of another application, with this chart as a dependency in the mode "sidecar". Call each with
the scope of the dependency: index .Subcharts "newrelic-exporter".
*/}}

{{/* Labels of the pod: the PodMonitor and the peers find it by them. */}}
{{- define "newrelic-exporter.sidecar.labels" -}}
{{ include "newrelic-exporter.podSelector" . }}
{{- end }}

{{/* "true" if the cluster keeps init containers with restartPolicy Always beside the others. */}}
{{- define "newrelic-exporter.sidecar.isNative" -}}
{{- if eq (toString .Values.sidecar.native) "auto" }}
{{- semverCompare ">=1.29.0-0" .Capabilities.KubeVersion.Version }}
{{- else }}
{{- .Values.sidecar.native }}
{{- end }}
{{- end }}

{{/* It has neither a readiness nor a startup probe: the host pod never waits for New Relic. */}}
{{- define "newrelic-exporter.sidecar.container" -}}
{{- include "newrelic-exporter.validate" . }}
{{- include "newrelic-exporter.container" (dict "root" . "name" .Values.sidecar.containerName "portName" .Values.sidecar.portName "resources" .Values.sidecar.resources) }}
livenessProbe:
  httpGet:
    path: /-/healthy
    port: {{ .Values.sidecar.portName }}
  initialDelaySeconds: 10
  periodSeconds: 15
  timeoutSeconds: 5
  failureThreshold: 4
{{- end }}

{{/* Entries of initContainers: the sidecar where it is a native one. */}}
{{- define "newrelic-exporter.sidecar.initContainers" -}}
{{- if eq (include "newrelic-exporter.sidecar.isNative" .) "true" }}
- restartPolicy: Always
  {{- include "newrelic-exporter.sidecar.container" . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Entries of containers: the sidecar where it is a classic one. */}}
{{- define "newrelic-exporter.sidecar.containers" -}}
{{- if ne (include "newrelic-exporter.sidecar.isNative" .) "true" }}
-
  {{- include "newrelic-exporter.sidecar.container" . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Entries of volumes. */}}
{{- define "newrelic-exporter.sidecar.volumes" -}}
{{ include "newrelic-exporter.volumes" . }}
{{- end }}

{{/*
A whole pod template with the sidecar in it. Call with (dict "template" MAP "exporter" SCOPE); MAP is the
application's own pod template: metadata and spec.
*/}}
{{- define "newrelic-exporter.sidecar.inject" -}}
{{- $template := deepCopy .template }}
{{- $metadata := default dict $template.metadata }}
{{- $labels := merge (fromYaml (include "newrelic-exporter.sidecar.labels" .exporter)) (default dict $metadata.labels) }}
{{- $_ := set $metadata "labels" $labels }}
{{- $_ := set $template "metadata" $metadata }}
{{- range $key := list "initContainers" "containers" "volumes" }}
{{- $own := default list (get $template.spec $key) }}
{{- $added := fromYamlArray (include (printf "newrelic-exporter.sidecar.%s" $key) $.exporter) }}
{{- with concat $own $added }}
{{- $_ := set $template.spec $key . }}
{{- end }}
{{- end }}
{{- toYaml $template }}
{{- end }}
