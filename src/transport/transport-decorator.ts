import type { ApiRequest, Send } from './transport.ts';

/** Wraps a transport in another one of the same shape; the first to see a call is the outermost. */
export type TransportDecorator = <Request extends ApiRequest>(next: Send<Request>) => Send<Request>;
