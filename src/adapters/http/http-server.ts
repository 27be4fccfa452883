import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express, Request, Response } from 'express';
import type { Logger } from '../../application/ports/logger.ts';
import { catalogRoutes } from './families/catalog.ts';
import { healthRoutes } from './families/health.ts';
import { messageRoutes, type Wait } from './families/messages.ts';
import { whatsappResourceRoutes } from './families/whatsapp-resources.ts';
import { SERVER_LIMITS, type ServerLimits } from './limits.ts';
import { type OpenApi, openApiDocument, openApiRoute } from './openapi/open-api.ts';
import type { Api } from './routing/api.ts';
import {
  EXPECTATION_FAILED,
  INTERNAL_ERROR,
  MALFORMED_REQUEST,
  methodNotAllowed,
  NOT_FOUND,
  OVERLOADED,
} from './routing/error-bodies.ts';
import { ok } from './routing/http-reply.ts';
import type { PathParams, Route } from './routing/route.ts';
import { type ClosingTimes, closeGracefully, connectionsOf } from './server/close-gracefully.ts';
import { Exchanges } from './server/exchange.ts';
import { fastExpress } from './server/fast-express.ts';
import { LoadShedder } from './server/load-shedder.ts';
import type { ObservedReply } from './server/observed-reply.ts';
import { pipeliningLimit } from './server/pipelining-limit.ts';
import { replyToProtocolErrors } from './server/protocol-errors.ts';

const HOST = 'host';

export interface HttpServerOptions {
  readonly api: Api;
  readonly logger: Logger;
  /** A new id for each answer whose request brought none. */
  readonly requestIds: () => string;
  /** Told of every answer; for checks, costs nothing when absent. */
  readonly observeReply?: (seen: ObservedReply) => void;
  readonly limits?: Partial<ServerLimits>;
  /** How a test number's slow answer waits; by the process clock when absent. */
  readonly wait?: Wait;
}

export interface HttpServer {
  /** Not listening yet. */
  readonly server: Server;
  readonly openApi: OpenApi;
  /**
   * Takes no new connection, answers what is in flight, and resolves when every connection is closed: true
   * when all of them ended by themselves, false when the time was over and the rest was cut.
   */
  closeGracefully(times: ClosingTimes): Promise<boolean>;
}

/** The whole interface over HTTP, at the root and under `/api`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { api, logger, requestIds, observeReply, wait = sleep } = options;
  const limits = { ...SERVER_LIMITS, ...options.limits };
  const { app, server } = fastExpress({
    requestTimeout: limits.requestTimeoutMs,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.connectionsCheckingIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.headerBytesMax,
    // Node's own answer to a missing Host has no body; ours has one.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connectionsMax;
  const connections = connectionsOf(server);

  const inFlight = new LoadShedder(limits.requestsMax);
  const exchanges = new Exchanges({ logger, requestIds, observeReply });
  const routes = routesOf(api, wait);
  const openApi = openApiDocument(routes);
  for (const [path, samePath] of groupByPath([...routes, openApiRoute(openApi)])) {
    registerPath(app, exchanges, inFlight, path, samePath);
  }
  listen(server, app, exchanges, limits.connectionRequestsMax);
  replyToProtocolErrors(server, { requestIds, observeReply });

  return {
    server,
    openApi,
    closeGracefully(times) {
      exchanges.startClosing();
      return closeGracefully(server, connections, times);
    },
  };
}

/** In the order they are looked for: the busiest first. */
function routesOf(api: Api, wait: Wait): readonly Route[] {
  return [
    ...messageRoutes(api, wait),
    ...catalogRoutes(api),
    ...whatsappResourceRoutes(api),
    ...healthRoutes(api),
  ];
}

function groupByPath(routes: readonly Route[]): ReadonlyMap<string, readonly Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of routes) groups.set(route.path, [...(groups.get(route.path) ?? []), route]);
  return groups;
}

function registerPath(
  app: Express,
  exchanges: Exchanges,
  inFlight: LoadShedder,
  path: string,
  routes: readonly Route[],
): void {
  const registration = app.route([path, `/api${path}`]);
  for (const route of routes) {
    registration[route.method]((request: Request, response: Response) => {
      const exchange = exchanges.begin(request, response, path);
      if (inFlight.isFull && route.bypassesLoadShedding !== true) {
        exchanges.respond(exchange, OVERLOADED);
        return;
      }
      inFlight.begin();
      route
        .serve(request, response, request.params as PathParams)
        .then(
          (answer) => {
            inFlight.end();
            exchanges.respond(exchange, answer);
          },
          (error: unknown) => {
            inFlight.end();
            throw error;
          },
        )
        .catch((error: unknown) => exchanges.fail(exchange, error, route.fault ?? INTERNAL_ERROR));
    });
  }
  const methods = methodsOf(routes);
  const allow = methods.join(', ');
  const allowed = ok({ methods }, ['Allow', allow]);
  const refused = methodNotAllowed(allow);
  registration.all((request: Request, response: Response) => {
    exchanges.respond(
      exchanges.begin(request, response, path),
      request.method === 'OPTIONS' ? allowed : refused,
    );
  });
}

function methodsOf(routes: readonly Route[]): readonly string[] {
  const methods = routes.flatMap(({ method }) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  return [...methods, 'OPTIONS'];
}

function listen(server: Server, app: Express, exchanges: Exchanges, connectionRequestsMax: number): void {
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    if (!isServed(request)) {
      exchanges.respond(exchanges.begin(request, response, null), MALFORMED_REQUEST, true);
      return;
    }
    // What reaches the end matched no route, or could not be decoded and so names nothing either.
    app(request as Request, response as Response, () => {
      exchanges.respond(exchanges.begin(request, response, null), NOT_FOUND);
    });
  };
  const handle = pipeliningLimit(server, connectionRequestsMax, serve);
  server.on('request', handle);
  // With a listener of its own the caller is told to go on only when the body is wanted.
  server.on('checkContinue', handle);
  server.on('checkExpectation', (request, response) => {
    exchanges.respond(exchanges.begin(request, response, null), EXPECTATION_FAILED, true);
  });
}

/** HTTP/1.1 with the one host it asks for, or HTTP/1.0 with at most one; the parser lets more than that through. */
function isServed({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const hosts = countHosts(rawHeaders);
  return (httpVersion === '1.1' && hosts === 1) || (httpVersion === '1.0' && hosts <= 1);
}

/** Of several Host headers Node keeps the first; whatever stands in front of the service may go by the last. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
  }
  return hosts;
}
