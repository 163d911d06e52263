import { describe, expect, it } from 'vitest';
import { dashboardFiles } from './dashboard-files.ts';

describe('the JSON of the dashboards', () => {
  it.each(dashboardFiles)(
    '$name is what its source makes (write it anew with "npx vitest run test/dashboards -u")',
    async ({ path, made }) => {
      const text = `${JSON.stringify(made, null, 2)}\n`;

      await expect(text).toMatchFileSnapshot(path);
    },
  );
});
