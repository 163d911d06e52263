import { ApiError, asApiError } from '../model/api-error.ts';
import type { Query } from '../model/config.ts';
import { nothingToAskOutcome, type PollOutcome, skippedOutcome } from '../model/poll-outcome.ts';
import type { Batch, CallContext, Question, Stage } from '../model/source.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { pollWindow } from './nrql.ts';

/** One query of the configuration: one call. What comes after its deadline has failed all the same. */
export function createQueryBatch<Asked extends Question>(
  asked: Asked,
  query: Query,
  client: Pick<GraphqlClient, 'query'>,
): Batch<Asked> {
  const { application, entry } = asked.selected;
  let outcome: PollOutcome | undefined;
  const failed = (error: ApiError): void => {
    outcome ??= { ...skippedOutcome(error), unauthorized: error.status === 401 };
  };
  const call = async (context: CallContext): Promise<void> => {
    try {
      const window = pollWindow(entry.poll, context.wallMs);
      const reading = await client.query(query, window, context);
      outcome ??= { ...nothingToAskOutcome, reading };
    } catch (error) {
      failed(asApiError(error));
    }
  };
  const stages: Stage[] = [{ size: 1, calls: [call].values() }];
  return {
    questions: [asked],
    key: application.id,
    nextStage: () => stages.pop(),
    giveUp: failed,
    outcomeOf: () => outcome ?? skippedOutcome(new ApiError('timeout', 'it was not asked.')),
  };
}
