import type { IncomingMessage, Server } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Express, Request, Response } from 'express';
import { MinuteLog } from '../../application/minute-log.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { RequestObserver } from '../../application/ports/request-observer.ts';
import { ADMIN_HEAD, adminDocumentRoutes } from './openapi/admin-document.ts';
import { type DocumentHead, type OpenApi, openApiDocument } from './openapi/open-api.ts';
import { openApiRoutes } from './openapi/open-api-routes.ts';
import { type ErrorEnvelope, errorReply, usualEnvelope } from './replies/http-error.ts';
import { ok } from './replies/http-reply.ts';
import {
  EXPECTATION_FAILED,
  MALFORMED_REQUEST,
  methodNotAllowed,
  NOT_FOUND,
} from './replies/known-errors.ts';
import type { Admission } from './routing/admission.ts';
import { clientAddressBehind, networkOf } from './routing/client-address.ts';
import type { PathParams, Route, RouteFamily } from './routing/route-declaration.ts';
import { type ClosingTimes, closeGracefully } from './server/connections/close-gracefully.ts';
import type { Serve } from './server/connections/connection.ts';
import { ConnectionTable } from './server/connections/connection-table.ts';
import { dropConnection } from './server/connections/drop-connection.ts';
import { pipeliningLimit } from './server/connections/pipelining-limit.ts';
import { replyToProtocolErrors } from './server/connections/protocol-errors.ts';
import { UnreadConnections } from './server/connections/unread-connections.ts';
import { Endpoint, type EndpointParts } from './server/endpoint.ts';
import { ExactPaths } from './server/exact-paths.ts';
import { fastExpress } from './server/fast-express.ts';
import { KnownKeys } from './server/known-keys.ts';
import { LoadShedder } from './server/load-shedder.ts';
import { RequestQueues } from './server/request-queues.ts';
import { FairReading } from './server/rounds/fair-reading.ts';
import { ListenBacklog } from './server/rounds/listen-backlog.ts';
import type { ObservedReply } from './server/writing/observed-reply.ts';
import { ReplyWriter } from './server/writing/reply-writer.ts';
import { RequestLog } from './server/writing/request-log.ts';
import {
  BODIES_READ_PER_ROUND,
  CONNECTIONS_READ_PER_MS,
  CONNECTIONS_READ_PER_ROUND,
  READING_BODIES_SHARE,
  READING_CLIENTS_MS_MAX,
  SERVER_LIMITS,
  type ServerLimits,
} from './server-limits.ts';

const HOST = 'host';
/** The only transfer coding that is served; others would have to be decoded. */
const CHUNKED = 'chunked';
const NO_PARAMS: PathParams = {};

const MALFORMED_REPLY = errorReply(MALFORMED_REQUEST, usualEnvelope);
const NOT_FOUND_REPLY = errorReply(NOT_FOUND, usualEnvelope);
const EXPECTATION_FAILED_REPLY = errorReply(EXPECTATION_FAILED, usualEnvelope);

/** The families of operators, which a document of their own describes, and who may read that. */
export interface AdminInterface {
  readonly families: readonly RouteFamily[];
  readonly admission: Admission<unknown>;
}

export interface HttpServerOptions {
  /** In the order their paths are matched: the busiest first. */
  readonly families: readonly RouteFamily[];
  /** The admin interface; it is not there when absent. */
  readonly admin?: AdminInterface;
  readonly logger: Logger;
  /** A new id for each reply whose request brought none. */
  readonly requestIds: () => string;
  /** Told of every reply; for checks, costs nothing when absent. */
  readonly observeReply?: (seen: ObservedReply) => void;
  /** Told of each reply to a request that was well formed, beside the log; none by default. */
  readonly observers?: readonly RequestObserver[];
  readonly limits?: Partial<ServerLimits>;
  /** Addresses or ranges of proxies whose X-Forwarded-For is believed; none by default. */
  readonly trustedProxies?: readonly string[];
}

export interface HttpServer {
  /** Not listening yet. */
  readonly server: Server;
  readonly openApi: OpenApi;
  /** The document of the admin interface; null when there is none. */
  readonly adminOpenApi: OpenApi | null;
  /** Makes both documents, which takes a tenth of a second of the event loop, so that no request waits for it later. */
  makeDocuments(): void;
  /**
   * Takes no new connection, replies to the requests in flight, and resolves when every connection is closed: true when
   * all of them ended by themselves, false when the time was over and the rest was cut.
   */
  closeGracefully(times: ClosingTimes): Promise<boolean>;
}

/** The whole interface over HTTP, at the root and under `/api`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { logger, requestIds, observeReply } = options;
  const observers = [new RequestLog(logger), ...(options.observers ?? [])];
  const limits = { ...SERVER_LIMITS, ...options.limits };
  const { app, server } = fastExpress({
    requestTimeout: limits.requestTimeoutMs,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.connectionsCheckingIntervalMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.headerBytesMax,
    // Node's own reply to a missing Host has no body; ours has one.
    requireHostHeader: false,
  });
  const backlog = new ListenBacklog(server);
  const connections = new ConnectionTable(server, limits.connectionsMax);

  const clientAddress = clientAddressBehind(options.trustedProxies ?? []);
  const knownKeys = new KnownKeys(clientAddress);
  const shedder = new LoadShedder(limits, clientAddress, { queues: new RequestQueues(backlog), knownKeys });
  const networkOfRequest = (request: IncomingMessage): string => networkOf(clientAddress(request));
  const msMax = (): number => backlog.roundMs(READING_CLIENTS_MS_MAX);
  const newConnections = new FairReading({
    msMax,
    perRound: CONNECTIONS_READ_PER_ROUND,
    perMs: CONNECTIONS_READ_PER_MS,
    share: 1,
  });
  const unreadBodies = new FairReading({
    msMax,
    perRound: BODIES_READ_PER_ROUND,
    share: READING_BODIES_SHARE,
  });
  const writer = new ReplyWriter({
    logger,
    requestIds,
    observeReply,
    observers,
    onUnsent: (response) => noteUnsent(response),
  });
  const { families, openApi } = documentedFamilies(options.families, openApiRoutes);
  const admin = options.admin === undefined ? null : adminOf(options.admin);
  const exactPaths = new ExactPaths();
  for (const [path, samePath] of groupByPath([...families, ...(admin?.families ?? [])])) {
    registerPath(app, exactPaths, path, samePath, { writer, shedder, limits });
  }
  const withOtherExpectation = new WeakSet<IncomingMessage>();
  const { serve, openResponses, hasTooManyLines, noteUnsent } = pipeliningLimit(server, limits, {
    table: connections,
    backlog,
    newConnections,
    unreadBodies,
    unread: new UnreadConnections(limits.unreadBytesMax, new MinuteLog({ clock: performance, logger })),
    networkOf: networkOfRequest,
    queueKeyOf: (request) => knownKeys.queueKeyOf(request),
    serve: requestListener(app, exactPaths, writer, withOtherExpectation),
  });
  server.timeout = limits.stallTimeoutMs;
  server.on('timeout', dropConnection);
  server.on('request', serve);
  // With a listener of its own the caller is told to go on only when the body is wanted.
  server.on('checkContinue', serve);
  server.on('checkExpectation', (request, response) => {
    withOtherExpectation.add(request);
    serve(request, response);
  });
  replyToProtocolErrors(server, { requestIds, observeReply, openResponses, hasTooManyLines });

  return {
    server,
    get openApi() {
      return openApi();
    },
    get adminOpenApi() {
      return admin?.openApi() ?? null;
    },
    makeDocuments() {
      openApi();
      admin?.openApi();
    },
    closeGracefully(times) {
      writer.startClosing();
      return closeGracefully(server, connections.open, times);
    },
  };
}

function adminOf({ families, admission }: AdminInterface) {
  return documentedFamilies(families, (openApi) => adminDocumentRoutes(admission, openApi), ADMIN_HEAD);
}

/**
 * The families with that of their document. It is made at its first use, because it takes longer than the rest of the start of a
 * harness.
 */
function documentedFamilies(
  others: readonly RouteFamily[],
  documentRoutes: (openApi: () => OpenApi) => RouteFamily,
  head?: DocumentHead,
) {
  let made: OpenApi | undefined;
  const openApi = (): OpenApi => {
    made ??= openApiDocument(families, head);
    return made;
  };
  const families = [...others, documentRoutes(openApi)];
  return { families, openApi };
}

interface EnvelopedRoute {
  readonly route: Route;
  readonly envelope: ErrorEnvelope;
}

function groupByPath(families: readonly RouteFamily[]): ReadonlyMap<string, readonly EnvelopedRoute[]> {
  const groups = new Map<string, EnvelopedRoute[]>();
  for (const { envelope, routes } of families) {
    for (const route of routes) {
      groups.set(route.path, [...(groups.get(route.path) ?? []), { route, envelope }]);
    }
  }
  return groups;
}

function registerPath(
  app: Express,
  exactPaths: ExactPaths,
  path: string,
  samePath: readonly EnvelopedRoute[],
  parts: EndpointParts,
): void {
  const { writer } = parts;
  const paths = [path, `/api${path}`];
  const registration = app.route(paths);
  for (const { route, envelope } of samePath) {
    const endpoint = new Endpoint(route, envelope, parts);
    for (const each of paths) exactPaths.add(route.method.toUpperCase(), each, endpoint);
    registration[route.method]((request: Request, response: Response) => {
      // Not returned: the router would watch the promise, which never rejects.
      void endpoint.serve(request, response, request.params as PathParams);
    });
  }
  const methods = methodsOf(samePath);
  const allow = methods.join(', ');
  const allowed = ok({ methods }, ['Allow', allow]);
  const rejected = errorReply(methodNotAllowed(allow), samePath[0]?.envelope ?? usualEnvelope);
  registration.all((request: Request, response: Response) => {
    writer.write(writer.begin(request, response, path), request.method === 'OPTIONS' ? allowed : rejected);
  });
}

function methodsOf(samePath: readonly EnvelopedRoute[]): readonly string[] {
  const methods = samePath.flatMap(({ route: { method } }) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  return [...methods, 'OPTIONS'];
}

/** Those `withOtherExpectation` expect something else than 100-continue. */
function requestListener(
  app: Express,
  exactPaths: ExactPaths,
  writer: ReplyWriter,
  withOtherExpectation: WeakSet<IncomingMessage>,
): Serve {
  return (request, response) => {
    // The header is checked first: most requests have none, and the set costs more.
    if (request.headers.expect !== undefined && withOtherExpectation.has(request)) {
      writer.write(writer.begin(request, response, null), EXPECTATION_FAILED_REPLY, true);
      return;
    }
    if (!isServed(request)) {
      writer.write(writer.begin(request, response, null), MALFORMED_REPLY, true);
      return;
    }
    const endpoint = exactPaths.find(request);
    if (endpoint !== undefined) {
      void endpoint.serve(request, response, NO_PARAMS);
      return;
    }
    request.url = decodableUrl(request.url ?? '');
    // What reaches the end matched no route.
    app(request as Request, response as Response, () => {
      writer.write(writer.begin(request, response, null), NOT_FOUND_REPLY);
    });
  };
}

/**
 * The URL with a path that a router can decode, without NUL, which not every database takes. An escape of anything else
 * stands for itself: the routes see an id that is simply unknown.
 */
function decodableUrl(url: string): string {
  if (!url.includes('%')) return url;
  const start = url.indexOf('?');
  const path = start === -1 ? url : url.slice(0, start);
  return isPlain(path) ? url : path.replaceAll('%', '%25') + url.slice(path.length);
}

function isPlain(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('\0');
  } catch {
    return false;
  }
}

/**
 * HTTP/1.1 with the one host it asks for, or HTTP/1.0 with at most one and no chunked body. The parser lets more than that
 * through, and whatever stands in front of the service may see other bounds of such a request.
 */
function isServed({ httpVersion, rawHeaders, headers }: IncomingMessage): boolean {
  const hosts = countHosts(rawHeaders);
  const coding = headers['transfer-encoding'];
  if (httpVersion === '1.0') return hosts <= 1 && coding === undefined;
  return httpVersion === '1.1' && hosts === 1 && (coding === undefined || coding.toLowerCase() === CHUNKED);
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
