/** Values that contradict each other among those that are off by default, and the sentence about them. */
export const optionRefusals: readonly { readonly set: readonly string[]; readonly says: string }[] =
  [
    {
      set: ['mode=statefulset', 'strategy.type=RollingUpdate'],
      says: 'strategy is set, but it is for a Deployment, and mode is statefulset: set updateStrategy instead',
    },
    {
      set: ['updateStrategy.type=OnDelete'],
      says: 'updateStrategy is set, but it is for a StatefulSet, and mode is deployment: set strategy instead',
    },
    {
      set: ['strategy.rollingUpdate.maxSurge=1'],
      says: 'strategy.type is Recreate, which has no rollingUpdate: set strategy.type to RollingUpdate, or remove strategy.rollingUpdate',
    },
    {
      set: [
        'strategy.type=RollingUpdate',
        'strategy.rollingUpdate.maxSurge=0',
        'strategy.rollingUpdate.maxUnavailable=0%',
      ],
      says: 'strategy.rollingUpdate allows neither one pod more nor one pod less, so that no pod could be replaced: set maxSurge or maxUnavailable to 1',
    },
    {
      set: [
        'mode=statefulset',
        'updateStrategy.type=OnDelete',
        'updateStrategy.rollingUpdate.partition=1',
      ],
      says: 'updateStrategy.type is OnDelete, which has no rollingUpdate: set updateStrategy.type to RollingUpdate, or remove updateStrategy.rollingUpdate',
    },
    {
      set: ['hostNetwork=true', 'networkPolicy.enabled=true'],
      says: 'hostNetwork and networkPolicy.enabled are true, but a NetworkPolicy does not apply to pods in the network of their node: set one of them to false',
    },
    {
      set: ['hostNetwork=true', 'mode=sidecar'],
      says: 'hostNetwork is true, but in the mode sidecar the chart has no pods: set it to false',
    },
    {
      set: ['dnsPolicy=None', 'dnsConfig.searches[0]=example.com'],
      says: 'dnsPolicy is None, so that pods only ask the servers of dnsConfig.nameservers, but there are none: list them there, or set another dnsPolicy',
    },
    {
      set: ['lifecycle.preStop.sleep.seconds=11'],
      says: 'lifecycle.preStop.sleep.seconds is 11, and the exporter needs 5 s more to stop, but terminationGracePeriodSeconds is 15: set it higher',
    },
    {
      set: ['service.nodePort=30126'],
      says: 'service.nodePort is set, but a Service of the type ClusterIP has no port on the nodes: set service.type to NodePort or LoadBalancer',
    },
    {
      set: ['service.externalTrafficPolicy=Local'],
      says: 'service.externalTrafficPolicy is set, but a Service of the type ClusterIP is not reached from outside: set service.type to NodePort or LoadBalancer',
    },
    {
      set: ['service.type=NodePort', 'service.loadBalancerIP=192.0.2.1'],
      says: 'service.loadBalancerIP or service.loadBalancerSourceRanges is set, but service.type is NodePort: set it to LoadBalancer',
    },
    {
      set: ['service.loadBalancerSourceRanges[0]=10.0.0.0/8'],
      says: 'service.loadBalancerIP or service.loadBalancerSourceRanges is set, but service.type is ClusterIP: set it to LoadBalancer',
    },
    {
      set: ['service.ipFamilyPolicy=SingleStack', 'service.ipFamilies={IPv6,IPv4}'],
      says: 'service.ipFamilies names two families, but service.ipFamilyPolicy is SingleStack: set it to PreferDualStack or RequireDualStack',
    },
    {
      set: ['httpRoute.enabled=true'],
      says: 'httpRoute.enabled is true, but httpRoute.parentRefs is empty, so that no Gateway would serve it: name one, for example httpRoute.parentRefs[0].name=gateway',
    },
    {
      set: [
        'httpRoute.enabled=true',
        'httpRoute.parentRefs[0].name=gateway',
        'httpRoute.filters[0].type=RequestRedirect',
        'httpRoute.filters[0].requestRedirect.scheme=https',
      ],
      says: 'httpRoute.filters has a RequestRedirect, so that no request would reach the exporter: move it to httpRoute.additionalRules, with matches of its own',
    },
    {
      set: ['mode=sidecar', 'scrapeConfig.enabled=true'],
      says: 'scrapeConfig.enabled is true, but in the mode sidecar the chart does not know the addresses of the pods: set podMonitor.enabled instead',
    },
    {
      set: ['podMonitoring.enabled=true', 'podMonitoring.timeout=1m'],
      says: 'podMonitoring.timeout is 1m, longer than podMonitoring.interval, which is 30s, and Prometheus refuses that: set it to 30s or less',
    },
  ];

/** Values next to those, which are taken. */
export const takenOptions: readonly { readonly set: readonly string[] }[] = [
  { set: ['strategy.type=RollingUpdate', 'strategy.rollingUpdate.maxSurge=0'] },
  { set: ['mode=statefulset', 'updateStrategy.type=OnDelete'] },
  { set: ['dnsPolicy=None', 'dnsConfig.nameservers[0]=192.0.2.53'] },
  { set: ['lifecycle.preStop.sleep.seconds=10'] },
  { set: ['service.type=NodePort', 'service.nodePort=30126'] },
  { set: ['service.type=LoadBalancer', 'service.loadBalancerIP=192.0.2.1'] },
  { set: ['service.ipFamilies={IPv6,IPv4}'] },
];
