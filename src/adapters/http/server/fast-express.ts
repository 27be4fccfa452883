import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import express, { type Express } from 'express';

/**
 * An express application and the server options that make it fast. Express changes the prototype of every
 * request and response to its own, which undoes the engine's optimisations each time. Objects that are born
 * with that prototype make the change a no-op (three to five times the throughput on Node 20).
 */
export function fastExpress(options: ServerOptions): { app: Express; server: Server } {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');

  class LeanRequest extends IncomingMessage {}
  class LeanResponse extends ServerResponse<LeanRequest> {}
  Object.setPrototypeOf(LeanRequest.prototype, app.request);
  Object.setPrototypeOf(LeanResponse.prototype, app.response);
  Object.assign(app, { request: LeanRequest.prototype, response: LeanResponse.prototype });

  const server = createServer({ ...options, IncomingMessage: LeanRequest, ServerResponse: LeanResponse });
  return { app, server };
}
