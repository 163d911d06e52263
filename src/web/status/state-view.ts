import type { AccountState, ApplicationState } from '../../model/status.ts';
import { type Html, html } from './html.ts';

/** How a state looks. The word always stands beside the colour. */
export type Tone = 'good' | 'bad' | 'wait' | 'none';

export interface StateView {
  readonly tone: Tone;
  readonly meaning: string;
}

export const applicationStateViews: Readonly<Record<ApplicationState, StateView>> = {
  dropped: {
    tone: 'bad',
    meaning: 'Polls have failed for so long that its values are no longer published.',
  },
  failing: { tone: 'bad', meaning: 'The last poll did not get everything.' },
  gone: {
    tone: 'wait',
    meaning: 'New Relic lists it, but answers 404 when asked for it. Nothing is published.',
  },
  waiting: { tone: 'wait', meaning: 'Its first poll has not ended yet.' },
  up: { tone: 'good', meaning: 'The last poll got everything.' },
  silent: { tone: 'none', meaning: 'It reports nothing to New Relic, so it is not polled.' },
};

const accountStateViews: Readonly<Record<AccountState, StateView>> = {
  down: { tone: 'bad', meaning: 'The last discovery failed.' },
  degraded: {
    tone: 'bad',
    meaning: 'The discovery works, but something else does not: the line below says what.',
  },
  starting: { tone: 'wait', meaning: 'The first discovery has not ended yet.' },
  up: { tone: 'good', meaning: 'The discovery works, and so do all polls.' },
};

/** How the state of an account, or of the whole, looks: amber instead of red if nothing fails. */
export function accountView(state: AccountState, works = false): StateView {
  const view = accountStateViews[state];
  return state === 'degraded' && works ? { ...view, tone: 'wait' } : view;
}

/** The word of a state, with its sign and colour. */
export function stateBadge(word: string, { tone, meaning }: StateView): Html {
  return html`<span class="state ${tone}" title="${meaning}">${word}</span>`;
}
