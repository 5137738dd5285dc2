import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { given, parseSearch, stringifySearch, text } from '../components/search-params.js'
import { archiveSearch } from '../features/archive/search.js'
import { auditSearch } from '../features/audit/search.js'
import { dlqSearch } from '../features/dead-letters/search.js'
import { jobSearch } from '../features/jobs/search.js'
import { overviewSearch } from '../features/overview/search.js'
import { place } from '../place.js'
import { Broken, NotFound, Root } from './root.js'

/**
 * Every address of the console. A route names its file and says what may stand in its query string; what is on the screen is
 * loaded when somebody goes there. Whatever reads the address asks the route for it, so that nothing unchecked gets through.
 */
const root = createRootRoute({ component: Root, notFoundComponent: NotFound, errorComponent: Broken })
const getParentRoute = () => root

const paged = (search: Record<string, unknown>): { readonly cursor?: string } =>
  given({ cursor: text(search, 'cursor', 1_000) })

const tree = root.addChildren([
  createRoute({
    getParentRoute,
    path: '/',
    validateSearch: overviewSearch,
    component: lazyRouteComponent(() => import('./overview.js')),
  }),
  createRoute({
    getParentRoute,
    path: '/dlq',
    validateSearch: dlqSearch,
    component: lazyRouteComponent(() => import('./dlq.js')),
  }),
  createRoute({ getParentRoute, path: '/dlq/$id', component: lazyRouteComponent(() => import('./dlq-job.js')) }),
  createRoute({
    getParentRoute,
    path: '/jobs',
    validateSearch: jobSearch,
    component: lazyRouteComponent(() => import('./jobs.js')),
  }),
  createRoute({ getParentRoute, path: '/jobs/$id', component: lazyRouteComponent(() => import('./job.js')) }),
  createRoute({
    getParentRoute,
    path: '/held',
    validateSearch: paged,
    component: lazyRouteComponent(() => import('./held.js')),
  }),
  createRoute({
    getParentRoute,
    path: '/held/$fingerprint',
    component: lazyRouteComponent(() => import('./quarantined.js')),
  }),
  createRoute({
    getParentRoute,
    path: '/operations',
    validateSearch: paged,
    component: lazyRouteComponent(() => import('./operations.js')),
  }),
  createRoute({
    getParentRoute,
    path: '/operations/$id',
    validateSearch: paged,
    component: lazyRouteComponent(() => import('./operation.js')),
  }),
  createRoute({ getParentRoute, path: '/queues', component: lazyRouteComponent(() => import('./queues.js')) }),
  createRoute({ getParentRoute, path: '/queues/$queue', component: lazyRouteComponent(() => import('./queue.js')) }),
  createRoute({ getParentRoute, path: '/workers', component: lazyRouteComponent(() => import('./workers.js')) }),
  createRoute({
    getParentRoute,
    path: '/audit',
    validateSearch: auditSearch,
    component: lazyRouteComponent(() => import('./audit.js')),
  }),
  createRoute({
    getParentRoute,
    path: '/archive',
    validateSearch: archiveSearch,
    component: lazyRouteComponent(() => import('./archive.js')),
  }),
  createRoute({ getParentRoute, path: '/settings', component: lazyRouteComponent(() => import('./settings.js')) }),
])

export const router = createRouter({
  routeTree: tree,
  basepath: place.pathname,
  parseSearch,
  stringifySearch,
  // What a link leads to is loaded when somebody is about to follow it.
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
