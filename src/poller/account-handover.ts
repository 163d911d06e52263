import type { AppState } from './app-state.ts';
import type { DiscoveryState } from './discovery-state.ts';

/** What one poller of an account leaves to the next, so that a reload makes no gap. */
export interface AccountHandover {
  readonly states: ReadonlyMap<string, AppState>;
  readonly discovery: DiscoveryState;
  readonly nextOrder: number;
}
