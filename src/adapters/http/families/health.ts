import { z } from 'zod';
import { overloadedBody } from '../openapi/error-schemas.ts';
import type { Api } from '../routing/api.ts';
import { ok } from '../routing/http-reply.ts';
import { openRoute, type Route } from '../routing/route.ts';

const alive = z.object({ status: z.literal('ok') });

const readinessFields = {
  dependencies: z.array(
    z.object({ name: z.string(), ok: z.boolean(), critical: z.boolean(), detail: z.string() }),
  ),
};
const ready = z.object({ status: z.enum(['ready', 'not-ready']), ...readinessFields });

const NOT_READY = { status: 503, code: 'not-ready', headers: ['Retry-After', '1'] } as const;

/** For machines that watch the service: `/healthz` touches nothing, `/readyz` asks every dependency. */
export function healthRoutes(api: Api): readonly Route[] {
  const liveness = openRoute({
    method: 'get',
    path: '/healthz',
    operationId: 'liveness',
    summary: 'Whether the process answers',
    ok: { description: 'It does', schema: alive },
    // Who watches would start a process again that is merely busy.
    bypassesLoadShedding: true,
    handle: async () => ok({ status: 'ok' as const }),
  });

  const readiness = openRoute({
    method: 'get',
    path: '/readyz',
    operationId: 'readiness',
    summary: 'Whether every critical dependency is well',
    ok: { description: 'They are', schema: ready },
    rejections: {
      503: {
        description: 'At least one is not, or too many requests are being answered',
        schema: z.union([ready, overloadedBody]),
        headers: ['Retry-After'],
      },
    },
    async handle() {
      const { ready: isReady, dependencies } = await api.health.readiness();
      const list = dependencies.map(({ name, ok: isOk, critical, detail }) => ({
        name,
        ok: isOk,
        critical,
        detail,
      }));
      if (isReady) return ok({ status: 'ready' as const, dependencies: list });
      return { ...NOT_READY, body: { status: 'not-ready' as const, dependencies: list } };
    },
  });

  return [liveness, readiness];
}
