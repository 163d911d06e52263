{{/* Stops the rendering with one sentence if the values cannot work. */}}
{{- define "newrelic-exporter.validate" -}}
{{- $hasWorkload := has .Values.mode (list "deployment" "statefulset") }}
{{- $runs := ne .Values.mode "none" }}
{{- $ownConfig := eq .Values.configExistingConfigMap "" }}
{{- if and $hasWorkload (gt (int .Values.replicas) 1) (eq .Values.sharding.mode "none") }}
{{- fail (printf "replicas is %d, but every pod would poll everything with the same key: set sharding.mode to static (with mode: statefulset), or replicas to 1" (int .Values.replicas)) }}
{{- end }}
{{- if and (eq .Values.sharding.mode "static") (ne .Values.mode "statefulset") }}
{{- fail (printf "sharding.mode is static, which takes the number of a shard from the pod name of a StatefulSet, but mode is %s: set mode to statefulset, or sharding.mode to none" .Values.mode) }}
{{- end }}
{{- if and (eq .Values.configReload "rollout") (not $ownConfig) }}
{{- fail "configReload is rollout, but Helm does not see changes of the ConfigMap in configExistingConfigMap: set it to hot" }}
{{- end }}
{{- if and (eq .Values.configReload "rollout") (not $hasWorkload) }}
{{- fail (printf "configReload is rollout, but in the mode %s the chart has no pods to restart: set it to hot" .Values.mode) }}
{{- end }}
{{- if and $runs $ownConfig (not (or .Values.config.apps .Values.config.queries .Values.config.include .Values.includeConfigMaps)) }}
{{- fail "config.apps and config.queries are empty, so nothing would be polled: list the applications, for example config.apps[0].id=31584797, or queries, or name a ConfigMap in configExistingConfigMap, or others in includeConfigMaps" }}
{{- end }}
{{- if and (not $ownConfig) (or .Values.config.apps .Values.config.accounts .Values.config.poll .Values.config.queries .Values.config.include) }}
{{- fail "both config and configExistingConfigMap are set: remove one of them" }}
{{- end }}
{{- range $index, $app := .Values.config.apps }}
{{- if and (hasKey $app "id") (not (kindIs "string" $app.id)) (ge (float64 $app.id) 9007199254740992.0) }}
{{- fail (printf "config.apps[%d].id has so many digits that Helm cannot keep them: write it in quotes" $index) }}
{{- end }}
{{- end }}
{{- if regexMatch "NRAK-[A-Z0-9]{8}" (toYaml .Values.config) }}
{{- fail "config contains an API key, but a ConfigMap is not secret: put the key into a Secret and name that in apiKey.existingSecret" }}
{{- end }}
{{- range $index, $account := .Values.config.accounts }}
{{- range $key := list "proxy_url" "proxy_url_file" }}
{{- if regexMatch "^[^/]*@|:.*@" (toString (get $account $key)) }}
{{- fail (printf "config.accounts[%d].%s has a login, but a ConfigMap is not secret: put the URL into a Secret, mount that with extraVolumes and extraVolumeMounts, and name the file in proxy_url_file" $index $key) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (eq .Values.web.scheme "https") (not .Values.web.configExistingSecret) }}
{{- fail "web.scheme is https, but without a web configuration file the exporter speaks http: name its Secret in web.configExistingSecret" }}
{{- end }}
{{- if and .Values.web.tlsExistingSecret (not .Values.web.configExistingSecret) }}
{{- fail "web.tlsExistingSecret is set, but nothing uses its certificate: name the Secret of a web configuration file in web.configExistingSecret" }}
{{- end }}
{{- if and .Values.apiKey.existingSecret .Values.apiKey.value }}
{{- fail "both apiKey.existingSecret and apiKey.value are set: remove one of them" }}
{{- end }}
{{- range $index, $account := .Values.accounts }}
{{- if eq (not $account.existingSecret) (not $account.value) }}
{{- fail (printf "accounts[%d] (%s) needs either existingSecret or value" $index $account.name) }}
{{- end }}
{{- end }}
{{- if and $runs $ownConfig }}
{{- include "newrelic-exporter.validateKeys" . }}
{{- end }}
{{- if and $hasWorkload (lt (int .Values.terminationGracePeriodSeconds) 10) }}
{{- fail (printf "terminationGracePeriodSeconds is %d, but the exporter answers scrapes for up to 5 s while it stops: set it to 10 or more" (int .Values.terminationGracePeriodSeconds)) }}
{{- end }}
{{- if $hasWorkload }}
{{- include "newrelic-exporter.validateWorkload" . }}
{{- include "newrelic-exporter.validateService" . }}
{{- include "newrelic-exporter.validateRoute" . }}
{{- include "newrelic-exporter.validateProbes" . }}
{{- end }}
{{- if and .Values.hostNetwork (not $hasWorkload) }}
{{- fail (printf "hostNetwork is true, but in the mode %s the chart has no pods: set it to false" .Values.mode) }}
{{- end }}
{{- if and .Values.scrapeConfig.enabled (eq .Values.mode "sidecar") }}
{{- fail "scrapeConfig.enabled is true, but in the mode sidecar the chart does not know the addresses of the pods: set podMonitor.enabled instead" }}
{{- end }}
{{- include "newrelic-exporter.validateNames" . }}
{{- include "newrelic-exporter.validateIncludes" . }}
{{- include "newrelic-exporter.validateApps" . }}
{{- include "newrelic-exporter.validateQueries" . }}
{{- include "newrelic-exporter.validateImage" . }}
{{- include "newrelic-exporter.validateEnv" . }}
{{- include "newrelic-exporter.validateScraping" . }}
{{- include "newrelic-exporter.validateMonitors" . }}
{{- with .Values.prometheusRule }}
{{- if and .enabled .groups.applications (not .groups.recording) }}
{{- fail "prometheusRule.groups.applications needs the recording rules: set prometheusRule.groups.recording to true" }}
{{- end }}
{{- if .enabled }}
{{- include "newrelic-exporter.validateAlerts" $ }}
{{- end }}
{{- end }}
{{- end }}

{{/* Checks that the exporter finds the files of each ConfigMap once. */}}
{{- define "newrelic-exporter.validateIncludes" -}}
{{- $names := list }}
{{- range include "newrelic-exporter.includes" . | fromYamlArray }}
{{- if has .configMap $names }}
{{- fail (printf "includeConfigMaps has %s twice, which can be mounted once: remove one of the entries" .configMap) }}
{{- end }}
{{- $names = append $names .configMap }}
{{- end }}
{{- if and $names .Values.config.include (not (regexMatch `(^|,)(\./)?(teams|[^/,]*[*?][^/,]*)/` (join "," .Values.config.include))) }}
{{- fail "includeConfigMaps is set, but config.include has no path in teams/, where they are mounted: add teams/*/*.yaml to config.include, or leave that empty" }}
{{- end }}
{{- end }}

{{/* Checks that the entries of apps choose something that the pods of this mode can poll. */}}
{{- define "newrelic-exporter.validateApps" -}}
{{- $chosen := 0 }}
{{- range $index, $app := .Values.config.apps }}
{{- if not $app.exclude }}
{{- $chosen = add1 $chosen }}
{{- end }}
{{- if and (eq (toString $app.hosts) "self") (has $.Values.mode (list "deployment" "statefulset")) }}
{{- fail (printf "config.apps[%d] has hosts: self, the host that a sidecar runs beside, but mode is %s: leave hosts out, or set mode to sidecar" $index $.Values.mode) }}
{{- end }}
{{- end }}
{{- if and .Values.config.apps (eq (int $chosen) 0) (not (or .Values.config.queries .Values.config.include .Values.includeConfigMaps)) }}
{{- fail "config.apps has excluded entries alone, so nothing would be polled: add one without exclude behind them, for example config.apps[1].match=." }}
{{- end }}
{{- end }}

{{/* Checks that the name of the image has one registry. */}}
{{- define "newrelic-exporter.validateImage" -}}
{{- $registry := default .Values.image.registry .Values.global.imageRegistry }}
{{- if and $registry (regexMatch `^([^/]*[.:][^/]*|localhost)/` .Values.image.repository) }}
{{- fail (printf "image.repository is %s, which begins with a registry, but the registry is %s: put the host into image.registry, or set that and global.imageRegistry to an empty text" .Values.image.repository $registry) }}
{{- end }}
{{- end }}

{{/* Checks that no API key is given as a variable that everybody can read who may see the pod, or that nobody reads. */}}
{{- define "newrelic-exporter.validateEnv" -}}
{{- $variables := list }}
{{- range .Values.config.accounts }}
{{- $variables = append $variables (toString .api_key_env) }}
{{- end }}
{{- $isRead := or .Values.configExistingConfigMap (has "NEW_RELIC_API_KEY" $variables) }}
{{- range $index, $env := .Values.extraEnv }}
{{- if regexMatch "NRAK-[A-Z0-9]{8}" (toString $env.value) }}
{{- fail (printf "extraEnv[%d] contains an API key, but a pod is not secret: put the key into a Secret and name that in apiKey.existingSecret" $index) }}
{{- end }}
{{- if and (eq $env.name "NEW_RELIC_API_KEY") (not $isRead) }}
{{- fail (printf "extraEnv[%d] is NEW_RELIC_API_KEY, which is not read, because the chart mounts keys as files: put the key into a Secret and name that in apiKey.existingSecret" $index) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Checks what the exporter refuses in queries. */}}
{{- define "newrelic-exporter.validateQueries" -}}
{{- $sources := list }}
{{- range .Values.config.accounts }}
{{- $sources = append $sources (toString .source) }}
{{- end }}
{{- if and .Values.config.queries (eq .Values.mode "sidecar") }}
{{- fail "config.queries is set, but in the mode sidecar each pod would ask them: move them to a release with mode: deployment" }}
{{- end }}
{{- if and .Values.config.queries (not (has "nerdgraph" $sources)) }}
{{- fail "config.queries is set, but no account has source: nerdgraph, which they need: add config.accounts with name, source: nerdgraph and account_id" }}
{{- end }}
{{- $reserved := list "job" "instance" "namespace" "pod" "container" "service" "endpoint" "node" "app" "type" "region" "account" "query" "quantile" "le" }}
{{- range $index, $query := .Values.config.queries }}
{{- $gauges := list $query.as }}
{{- if kindIs "map" $query.as }}
{{- $gauges = values $query.as }}
{{- end }}
{{- $outline := regexReplaceAll `(?s)'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\x60[^\x60]*\x60|/\*.*?\*/|(?:--|//)[^\n]*` (toString $query.nrql) "#" }}
{{- range until 50 }}
{{- $outline = regexReplaceAll `\([^()]*\)` $outline "#" }}
{{- end }}
{{- with regexFind `(?i)(?:^|\s)(?:since|until|timeseries|compare\s+with)(?:\s|$)` $outline }}
{{- fail (printf "config.queries[%d].nrql must not have %s, because the exporter adds the time range: leave it out, and set window or delay instead" $index (trim . | upper)) }}
{{- end }}
{{- range $gauges }}
{{- if regexMatch "^__|_(?:total|count|sum|bucket|info|created)$" . }}
{{- fail (printf "config.queries[%d].as has the gauge %s, but a gauge must not begin with __, nor end in _total, _count, _sum, _bucket, _info or _created: choose another name" $index .) }}
{{- end }}
{{- end }}
{{- range concat (values (default dict $query.labels)) (keys (default dict $query.constant_labels)) }}
{{- if has . $reserved }}
{{- fail (printf "config.queries[%d] has the label %s, which Prometheus or the exporter sets itself: choose another name" $index .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Checks what Kubernetes would refuse of the Deployment or StatefulSet, or would accept without effect. */}}
{{- define "newrelic-exporter.validateWorkload" -}}
{{- $isDeployment := eq .Values.mode "deployment" }}
{{- $strategy := default dict .Values.strategy }}
{{- $updateStrategy := default dict .Values.updateStrategy }}
{{- $lifecycle := default dict .Values.lifecycle }}
{{- $dnsConfig := default dict .Values.dnsConfig }}
{{- if and (not $isDeployment) $strategy (ne (toJson $strategy) `{"type":"Recreate"}`) }}
{{- fail "strategy is set, but it is for a Deployment, and mode is statefulset: set updateStrategy instead" }}
{{- end }}
{{- if and $isDeployment $updateStrategy }}
{{- fail "updateStrategy is set, but it is for a StatefulSet, and mode is deployment: set strategy instead" }}
{{- end }}
{{- with $strategy }}
{{- if and (eq .type "Recreate") .rollingUpdate }}
{{- fail "strategy.type is Recreate, which has no rollingUpdate: set strategy.type to RollingUpdate, or remove strategy.rollingUpdate" }}
{{- end }}
{{- with .rollingUpdate }}
{{- $none := list "0" "0%" }}
{{- if and (has (toString .maxSurge) $none) (has (toString .maxUnavailable) $none) }}
{{- fail "strategy.rollingUpdate allows neither one pod more nor one pod less, so that no pod could be replaced: set maxSurge or maxUnavailable to 1" }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (eq (toString $updateStrategy.type) "OnDelete") $updateStrategy.rollingUpdate }}
{{- fail "updateStrategy.type is OnDelete, which has no rollingUpdate: set updateStrategy.type to RollingUpdate, or remove updateStrategy.rollingUpdate" }}
{{- end }}
{{- if and .Values.hostNetwork .Values.networkPolicy.enabled }}
{{- fail "hostNetwork and networkPolicy.enabled are true, but a NetworkPolicy does not apply to pods in the network of their node: set one of them to false" }}
{{- end }}
{{- if and .Values.pdb.enabled .Values.pdb.unhealthyPodEvictionPolicy (semverCompare "<1.27.0-0" .Capabilities.KubeVersion.Version) }}
{{- fail (printf "pdb.unhealthyPodEvictionPolicy needs Kubernetes 1.27, and the cluster has %s, which would drop it without a word: leave it empty" .Capabilities.KubeVersion.Version) }}
{{- end }}
{{- if and (eq .Values.dnsPolicy "None") (not $dnsConfig.nameservers) }}
{{- fail "dnsPolicy is None, so that pods only ask the servers of dnsConfig.nameservers, but there are none: list them there, or set another dnsPolicy" }}
{{- end }}
{{- with $lifecycle.preStop }}
{{- if .sleep }}
{{- if gt (add (int .sleep.seconds) 5) (int $.Values.terminationGracePeriodSeconds) }}
{{- fail (printf "lifecycle.preStop.sleep.seconds is %d, and the exporter needs 5 s more to stop, but terminationGracePeriodSeconds is %d: set it higher" (int .sleep.seconds) (int $.Values.terminationGracePeriodSeconds)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Checks what Kubernetes would refuse of the Service, or would accept without effect. */}}
{{- define "newrelic-exporter.validateService" -}}
{{- with .Values.service }}
{{- if eq .type "ClusterIP" }}
{{- if .nodePort }}
{{- fail "service.nodePort is set, but a Service of the type ClusterIP has no port on the nodes: set service.type to NodePort or LoadBalancer" }}
{{- end }}
{{- if .externalTrafficPolicy }}
{{- fail "service.externalTrafficPolicy is set, but a Service of the type ClusterIP is not reached from outside: set service.type to NodePort or LoadBalancer" }}
{{- end }}
{{- end }}
{{- if and (ne .type "LoadBalancer") (or .loadBalancerIP .loadBalancerSourceRanges) }}
{{- fail (printf "service.loadBalancerIP or service.loadBalancerSourceRanges is set, but service.type is %s: set it to LoadBalancer" .type) }}
{{- end }}
{{- if and (eq .ipFamilyPolicy "SingleStack") (gt (len .ipFamilies) 1) }}
{{- fail "service.ipFamilies names two families, but service.ipFamilyPolicy is SingleStack: set it to PreferDualStack or RequireDualStack" }}
{{- end }}
{{- end }}
{{- end }}

{{/* Checks that requests can reach the exporter by the Ingress and the HTTPRoute. */}}
{{- define "newrelic-exporter.validateRoute" -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
{{- fail "ingress.enabled is true, but ingress.hosts is empty, which Kubernetes refuses: name the host, for example ingress.hosts[0]=exporter.example.com" }}
{{- end }}
{{- with .Values.httpRoute }}
{{- if and .enabled (not .parentRefs) }}
{{- fail "httpRoute.enabled is true, but httpRoute.parentRefs is empty, so that no Gateway would serve it: name one, for example httpRoute.parentRefs[0].name=gateway" }}
{{- end }}
{{- range .filters }}
{{- if eq (toString .type) "RequestRedirect" }}
{{- fail "httpRoute.filters has a RequestRedirect, so that no request would reach the exporter: move it to httpRoute.additionalRules, with matches of its own" }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Checks that each probe asks in one way. One that the values add does not replace the chart's own. */}}
{{- define "newrelic-exporter.validateProbes" -}}
{{- range $name := list "startupProbe" "livenessProbe" "readinessProbe" }}
{{- $probe := default dict (get $.Values $name) }}
{{- $handlers := list }}
{{- range $handler := list "exec" "grpc" "httpGet" "tcpSocket" }}
{{- if get $probe $handler }}
{{- $handlers = append $handlers $handler }}
{{- end }}
{{- end }}
{{- if and $probe (eq (len $handlers) 0) }}
{{- fail (printf "%s has none of exec, grpc, httpGet and tcpSocket: add one, or set %s to null for no probe" $name $name) }}
{{- end }}
{{- if gt (len $handlers) 1 }}
{{- fail (printf "%s has %s, but Kubernetes allows only one of them: set the others to null" $name (join " and " $handlers)) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Checks that the exporter is scraped once: a sum over series that are there twice would be twice as high. */}}
{{- define "newrelic-exporter.validateScraping" -}}
{{- $ways := list }}
{{- $hasWorkload := has .Values.mode (list "deployment" "statefulset") }}
{{- range $name := list "serviceMonitor" "podMonitor" "scrapeConfig" "podMonitoring" }}
{{- $isMade := or $hasWorkload (and (hasPrefix "pod" $name) (ne $.Values.mode "none")) }}
{{- if and $isMade (get $.Values $name).enabled }}
{{- $ways = append $ways (printf "%s.enabled" $name) }}
{{- end }}
{{- end }}
{{- if $hasWorkload }}
{{- range $path, $annotations := dict "podAnnotations" .Values.podAnnotations "service.annotations" .Values.service.annotations }}
{{- with get $annotations "prometheus.io/scrape" }}
{{- if eq (include "newrelic-exporter.text" (list $ .)) "true" }}
{{- $ways = append $ways (printf "%s[prometheus.io/scrape]" $path) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if gt (len $ways) 1 }}
{{- fail (printf "%s are set together, so that the exporter would be scraped %d times and every series be there as often: keep one of them, and write what a second Prometheus needs into extraManifests" (join " and " $ways) (len $ways)) }}
{{- end }}
{{- end }}

{{/* Checks what Prometheus refuses of a monitor: its operator would leave it out without a word. */}}
{{- define "newrelic-exporter.validateMonitors" -}}
{{- $fields := dict "serviceMonitor" "scrapeTimeout" "podMonitor" "scrapeTimeout" "scrapeConfig" "scrapeTimeout" "podMonitoring" "timeout" }}
{{- range $name, $field := $fields }}
{{- $monitor := get $.Values $name }}
{{- $timeout := get $monitor $field }}
{{- if and $monitor.enabled $monitor.interval $timeout }}
{{- if gt (int64 (include "newrelic-exporter.milliseconds" $timeout)) (int64 (include "newrelic-exporter.milliseconds" $monitor.interval)) }}
{{- fail (printf "%s.%s is %s, longer than %s.interval, which is %s, and Prometheus refuses that: set it to %s or less" $name $field $timeout $name $monitor.interval $monitor.interval) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* A duration as Prometheus writes it, in milliseconds. */}}
{{- define "newrelic-exporter.milliseconds" -}}
{{- $units := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 "w" 604800000 "y" 31536000000 }}
{{- $total := 0 }}
{{- range regexFindAll "[0-9]+[a-z]+" . -1 }}
{{- $total = add $total (mul (regexFind "[0-9]+" .) (get $units (regexFind "[a-z]+" .))) }}
{{- end }}
{{- $total }}
{{- end }}

{{/* Checks that every account has an API key, and every API key an account. */}}
{{- define "newrelic-exporter.validateKeys" -}}
{{- $named := list }}
{{- range .Values.accounts }}
{{- $named = append $named .name }}
{{- end }}
{{- $hasDefault := or .Values.apiKey.existingSecret .Values.apiKey.value }}
{{- if and (not .Values.config.accounts) (not $named) (not $hasDefault) }}
{{- fail "there is no API key: name the Secret that contains it in apiKey.existingSecret" }}
{{- end }}
{{- $configured := list }}
{{- range .Values.config.accounts }}
{{- $configured = append $configured .name }}
{{- if not (or .api_key_file .api_key_env (has .name $named) $hasDefault) }}
{{- fail (printf "the account %s has no API key: add it to accounts with its existingSecret, or set apiKey.existingSecret" .name) }}
{{- end }}
{{- end }}
{{- if .Values.config.accounts }}
{{- range $named }}
{{- if not (has . $configured) }}
{{- fail (printf "accounts names %s, which config.accounts does not have" .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
