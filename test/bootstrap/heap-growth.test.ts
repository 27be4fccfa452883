import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** How many times what the process keeps its heap takes at most. */
async function mostGrowth(...limited: readonly string[]): Promise<number> {
  const program = join(import.meta.dirname, 'heap-growth-process.ts');
  const child = fork(program, limited, { execArgv: ['--expose-gc', '--import', 'tsx'] });
  const [growth] = (await once(child, 'message')) as [number];
  return growth;
}

describe('the growth of the heap', () => {
  it('has garbage collected before the heap has tripled, which V8 by itself lets pass', async () => {
    const [limited, unlimited] = await Promise.all([mostGrowth('limited'), mostGrowth()]);
    expect(limited).toBeLessThan(3);
    expect(unlimited).toBeGreaterThan(3);
  });
});
