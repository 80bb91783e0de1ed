import { expect, test } from 'vitest';
import { field, html, page } from './html.ts';

test('what is put into a page is text, in content and in attributes', () => {
  const hostile = `"><script>alert('1')</script>&`;
  const expected = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;';
  expect(html`<p>${hostile}</p>`.text).toBe(`<p>${expected}</p>`);
  expect(field({ name: 'a', label: 'A', autocomplete: 'off', value: hostile }).text).toContain(`value="${expected}"`);
  expect(page(hostile, html``, { error: hostile }).text).not.toContain('<script');
});
