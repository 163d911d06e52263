import {
  type ApiObserver,
  type Logger,
  type Operation,
  type UnexpectedAnswer,
  unexpectedAnswers,
} from '../../model/telemetry.ts';
import { excerptOf } from '../answer.ts';

/** Takes note of what comes with answers, or is other than New Relic documents, or than its documents leave open. */
export interface UnexpectedAnswers {
  /**
   * @param detail what there was, for the log
   */
  saw(kind: UnexpectedAnswer, detail: Readonly<Record<string, unknown>>): void;
  /** New Relic says something beside a whole answer: logged once for each text, and no fault. */
  noticed(text: string, operation: Operation): void;
}

/** A text that is another one each time must not fill the memory, or the log. */
const mostNotices = 50;

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
  const notices = new Set<string>();
  return {
    saw: (kind, detail) => {
      observer.unexpected(kind, 1);
      const fields = { account, kind, ...detail };
      logger[logged.has(kind) ? 'debug' : 'warn'](fields, 'an answer was not as documented');
      logged.add(kind);
    },
    noticed: (text, operation) => {
      const notice = excerptOf(text);
      if (notices.has(notice) || notices.size >= mostNotices) return;
      notices.add(notice);
      logger.info({ account, operation, notice }, 'New Relic has a notice on an answer');
    },
  };
}
