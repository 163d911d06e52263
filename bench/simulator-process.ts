/**
 * A simulated account as a process of its own. Arguments: applications, hosts, quota phase in
 * milliseconds, `daily` or `flat` traffic. Sends its base URL and how many hosts have names
 * of their own, and answers each message with what it has seen.
 */
import { createSystemClock } from '../src/daemon/node-platform.ts';
import { createSimulator } from '../src/simulator/simulator.ts';

const [applications = '200', hosts = '2000', quotaPhaseMs = '0', traffic] = process.argv.slice(2);
const simulator = createSimulator(
  {
    latencyMs: [80, 400],
    quotaPhaseMs: Number(quotaPhaseMs),
    fleet: {
      applications: Number(applications),
      hosts: Number(hosts),
      kinds: ['web', 'other', 'both'],
      traffic: traffic === 'flat' ? 'flat' : 'daily',
    },
  },
  { clock: createSystemClock() },
);
const { baseUrl } = await simulator.start();
process.on('message', () => {
  process.send?.({
    violations: simulator.violations(),
    requests: simulator.journal.count(),
    nrql: simulator.journal.count(
      ({ graphql }) => graphql?.asks.some(({ operation }) => operation === 'nrql') === true,
    ),
    mostInAnyMinute: simulator.journal.maxInAnyWindow(60_000),
    mostInFlight: simulator.journal.maxInFlight(),
  });
});
process.on('disconnect', () => {
  process.exit(0);
});
const hostNames = simulator.fleet
  .applications()
  .reduce((sum, one) => sum + new Set(Array.from(one.hosts.values(), ({ name }) => name)).size, 0);
process.send?.({ baseUrl, apiKey: simulator.apiKeys[0], hostNames });
