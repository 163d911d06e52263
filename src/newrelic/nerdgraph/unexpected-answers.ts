import {
  type ApiObserver,
  type Logger,
  type UnexpectedAnswer,
  unexpectedAnswers,
} from '../../model/telemetry.ts';

/** Takes note of answers that are other than New Relic documents, or than its documents leave open. */
export interface UnexpectedAnswers {
  /**
   * @param detail what there was, for the log
   */
  saw(kind: UnexpectedAnswer, detail: Readonly<Record<string, unknown>>): void;
}

/** Counts every one. The first of each kind is logged, and later ones at the level `debug`. */
export function createUnexpectedAnswers(
  account: string,
  {
    observer,
    logger,
  }: { readonly observer: Pick<ApiObserver, 'unexpected'>; readonly logger: Logger },
): UnexpectedAnswers {
  for (const kind of unexpectedAnswers) observer.unexpected(kind, 0);
  const logged = new Set<UnexpectedAnswer>();
  return {
    saw: (kind, detail) => {
      observer.unexpected(kind, 1);
      const fields = { account, kind, ...detail };
      logger[logged.has(kind) ? 'debug' : 'warn'](fields, 'an answer was not as documented');
      logged.add(kind);
    },
  };
}
