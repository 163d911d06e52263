{{/*
The spec of a pod that checks the configuration and the files that it names. Nothing is required to be
there: the program says what is missing, while a pod without its volumes would wait for ever.
*/}}
{{- define "newrelic-exporter.checkPod" -}}
{{- $optional := merge (dict "optional" true) . -}}
restartPolicy: Never
automountServiceAccountToken: false
enableServiceLinks: false
{{- with include "newrelic-exporter.imagePullSecrets" . }}
imagePullSecrets:
  {{- . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
containers:
  - name: check-config
    image: {{ include "newrelic-exporter.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args:
      - check-config
      - --config.file=/etc/newrelic-exporter/config.yaml
      {{- with .Values.web.configExistingSecret }}
      - {{ printf "--web.config.file=/etc/newrelic-exporter-web/%s" $.Values.web.configExistingSecretKey | quote }}
      {{- end }}
    {{- include "newrelic-exporter.environment" . | nindent 4 }}
    securityContext:
      {{- toYaml .Values.securityContext | nindent 6 }}
    resources:
      requests:
        cpu: 10m
        memory: 64Mi
      limits:
        memory: 128Mi
    {{- include "newrelic-exporter.volumeMounts" . | nindent 4 }}
volumes:
  {{- include "newrelic-exporter.volumes" $optional | nindent 2 }}
{{- end }}
