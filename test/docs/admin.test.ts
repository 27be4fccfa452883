import { describe, expect, it } from 'vitest';
import { WHATSAPP_RESOURCES_MAX, WHATSAPP_TREE_BYTES_MAX } from '../../src/adapters/http/limits.ts';
import { ADMIN_ONLY_ERROR_CODE_MEANINGS } from '../../src/adapters/http/replies/admin-error-codes.ts';
import { rejectionError } from '../../src/adapters/http/replies/rejection-errors.ts';
import type { OperatorRejection } from '../../src/application/errors/rejected.ts';
import { KEY_STATUSES } from '../../src/domain/access/project-key.ts';
import { AUDIT_ACTIONS } from '../../src/domain/audit/audit-record.ts';
import { ZERO } from '../../src/domain/shared/money.ts';
import { RESOURCE_USERS } from '../../src/domain/whatsapp/resource-changes.ts';
import { ADMIN_TOKEN } from '../support/admin.ts';
import { codeBlocks, Page, tables, unquoted } from '../support/markdown.ts';
import { startService } from '../support/running-service.ts';

const page = new Page('docs/admin.md');
const projects = new Page('docs/admin-projects.md');
const rowsOf = (heading: string, of = page) => tables(of.section(heading))[0] ?? [];
const namesIn = (heading: string, of = page) => rowsOf(heading, of).map(([name]) => unquoted(name));

interface Operation {
  readonly summary: string;
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
  };
}

async function document() {
  const service = await startService({ adminToken: ADMIN_TOKEN });
  return (await service.request('/admin/openapi.json', { apiKey: ADMIN_TOKEN })).body as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, { properties: object }> };
  };
}

describe('docs/admin.md', () => {
  it('docs/admin.md lists the endpoints of the admin interface with their summaries', async () => {
    const { paths } = await document();
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { summary }]) => [`${method.toUpperCase()} ${path}`, summary]),
    );
    const listed = rowsOf('## Endpoints').map(([endpoint, summary]) => [unquoted(endpoint), summary]);
    expect(listed.sort()).toEqual(served.sort());
  });

  it('docs/admin-projects.md lists the fields of a new project and of a change', async () => {
    const { schemas } = (await document()).components;
    const rows = rowsOf('## Projects', projects);
    const changing = rows.filter(([, , change]) => change === 'yes');
    const names = (given: typeof rows) => given.map(([name]) => unquoted(name)).sort();
    expect(names(rows)).toEqual(Object.keys(schemas.CreateProject?.properties ?? {}).sort());
    expect(names(changing)).toEqual(Object.keys(schemas.ChangeProject?.properties ?? {}).sort());
  });

  it('the pages of operators list the statuses of keys, and the actions of the audit log', () => {
    expect(namesIn('## Keys', projects)).toEqual([...KEY_STATUSES]);
    expect(namesIn('## The audit log')).toEqual([...AUDIT_ACTIONS]);
  });

  it('docs/admin.md lists the codes that the admin interface adds, with their statuses', () => {
    const kinds = Object.keys(ADMIN_ONLY_ERROR_CODE_MEANINGS) as OperatorRejection['kind'][];
    const expected = kinds.map((kind) => {
      const error = rejectionError({ kind, balance: ZERO, held: ZERO } as OperatorRejection);
      return [error.code, String(error.status), ADMIN_ONLY_ERROR_CODE_MEANINGS[kind]];
    });
    expect(rowsOf('## Errors').map(([code, ...rest]) => [unquoted(code), ...rest])).toEqual(expected);
  });
});

describe('docs/admin-whatsapp.md', () => {
  const whatsapp = new Page('docs/admin-whatsapp.md');

  it('docs/admin-whatsapp.md has the limits of a tree, and what can use a resource', () => {
    const [, limits = []] = tables(whatsapp.section('## Whatsapp resources'));
    expect(limits.map(([, value]) => value?.split(/[: ]/)[0])).toEqual([
      String(WHATSAPP_TREE_BYTES_MAX / 1_024 ** 2),
      WHATSAPP_RESOURCES_MAX.toLocaleString('en'),
    ]);
    const [users = []] = tables(whatsapp.section('### What is in use'));
    expect(users.map(([word]) => unquoted(word))).toEqual([...RESOURCE_USERS]);
  });

  it('docs/admin-whatsapp.md shows a tree that an operator can set', async () => {
    const service = await startService({ adminToken: ADMIN_TOKEN });
    const [example = ''] = codeBlocks(whatsapp.text, 'json');
    const body: unknown = JSON.parse(example);
    const path = '/admin/projects/demo/whatsapp';
    const reply = await service.request(path, { apiKey: ADMIN_TOKEN, method: 'PUT', body });
    expect(reply).toMatchObject({ status: 200, body });
  });
});
