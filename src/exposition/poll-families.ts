import { type AppFamily, familiesFrom, oneFlag, oneTimestamp } from './family.ts';

/** How the polls of each application went. */
export const pollFamilies: readonly AppFamily[] = familiesFrom(
  ['pollSucceeded', 'lastSuccessMs'],
  [
    {
      name: 'newrelic_application_poll_success',
      help: 'Whether the last poll of the application got all that was asked for (1) or not (0).',
      samplesOf: ({ pollSucceeded }) => oneFlag(pollSucceeded),
    },
    {
      name: 'newrelic_application_last_success_timestamp_seconds',
      help: 'When a poll of the application last got all that was asked for, in seconds since the epoch.',
      samplesOf: ({ lastSuccessMs }) => oneTimestamp(lastSuccessMs),
    },
  ],
);
