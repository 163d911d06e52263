import { ApiError } from '../model/api-error.ts';
import type { SelectedApplication } from '../model/selector.ts';
import type { ThroughputQuery } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { Call } from './call-scheduler.ts';
import { wantedHostNames } from './host-names.ts';
import type { PollAnswers } from './poll-answers.ts';

export type PollSource = Pick<Source, 'hostNames' | 'applicationThroughput' | 'hostThroughput'>;

/** The calls of one poll: each keeps its answer, or why there is none. */
export interface PollCalls {
  hostNames(signal: AbortSignal): Call;
  application(query: ThroughputQuery, signal: AbortSignal): Call;
  host(hostId: string, query: ThroughputQuery, signal: AbortSignal): Call;
}

export function createPollCalls(
  selected: SelectedApplication,
  { source, answers }: { readonly source: PollSource; readonly answers: PollAnswers },
): PollCalls {
  const { id } = selected.application;
  return {
    hostNames: (signal) => async (onWire) =>
      answered(
        async () => {
          answers.hostNames(await source.hostNames(id, signal, onWire, wantedHostNames(selected)));
        },
        (error) => answers.hostNamesFailed(error),
      ),
    application: (query, signal) => async (onWire) =>
      answered(
        async () => {
          answers.application(await source.applicationThroughput(id, query, signal, onWire), query);
        },
        (error) => answers.applicationFailed(error),
      ),
    host: (hostId, query, signal) => async (onWire) =>
      answered(
        async () => {
          answers.host(
            hostId,
            await source.hostThroughput(id, hostId, query, signal, onWire),
            query,
          );
        },
        (error) => answers.hostFailed(hostId, error),
      ),
  };
}

/** Whether the vendor answered, with what was asked for or with an error of its own. */
async function answered(
  ask: () => Promise<void>,
  failed: (error: ApiError) => void,
): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    const known = asApiError(error);
    failed(known);
    return known.status !== undefined;
  }
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('client', 'the call failed for a reason of our own', { cause: error });
}
