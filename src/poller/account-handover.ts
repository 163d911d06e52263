import type { AppSnapshot } from '../model/snapshot.ts';
import type { AppState } from './app-state.ts';
import type { DiscoveryState } from './discovery-state.ts';

/** What one poller of an account leaves to the next, so that a reload makes no gap. */
export interface AccountHandover {
  readonly states: ReadonlyMap<string, AppState>;
  readonly discovery: DiscoveryState;
  /** How many calls the last discovery took. */
  readonly discoveryCalls: number;
  readonly nextOrder: number;
  /** What is published of each application. */
  readonly published: ReadonlyMap<string, AppSnapshot>;
}
