import { type AppFamily, cachedNotice, familiesFrom, oneSample } from './family.ts';

/** The vendor's own rolling summary of each application, as its list answer has it. */
export const summaryFamilies: readonly AppFamily[] = familiesFrom(
  ['application'],
  [
    {
      name: 'newrelic_application_summary_requests_per_minute',
      help: `Requests per minute in New Relic's rolling summary of the application. ${cachedNotice}`,
      samplesOf: ({ application }) => oneSample(application.summary?.requestsPerMinute),
    },
    {
      name: 'newrelic_application_summary_response_time_seconds',
      help: `Average response time in New Relic's rolling summary of the application. ${cachedNotice}`,
      samplesOf: ({ application }) => oneSample(application.summary?.responseTimeSeconds),
    },
    {
      name: 'newrelic_application_summary_error_ratio',
      help: `Share of requests that failed in New Relic's rolling summary of the application, 0 to 1. ${cachedNotice}`,
      samplesOf: ({ application }) => oneSample(application.summary?.errorRatio),
    },
    {
      name: 'newrelic_application_summary_apdex_score',
      help: `Apdex score in New Relic's rolling summary of the application, 0 to 1. ${cachedNotice}`,
      samplesOf: ({ application }) => oneSample(application.summary?.apdexScore),
    },
    {
      name: 'newrelic_application_summary_apdex_target_seconds',
      help: `Response time that New Relic's Apdex score of the application is measured against. ${cachedNotice}`,
      samplesOf: ({ application }) => oneSample(application.summary?.apdexTargetSeconds),
    },
  ],
);
