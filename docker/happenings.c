/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/happenings.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "docker/events.h"
#include "docker/lists.h"
#include "docker/network-def.h"
#include "image/store.h"

/* The events of one moment. */
struct batch {
	struct arena *a;
	const struct dk_store *store;
	const struct dk_record *record;
	struct strbuf lines;
};

static void put(struct batch *b, struct str_map *m, const char *key, const char *value)
{
	dk_map_add(b->a, m, (char *)key, (char *)(value ? value : ""), true);
}

static void add(struct batch *b, const char *type, const char *action, const char *id, const struct str_map *m)
{
	dk_event_add(&b->lines, &(struct dk_event){.type = (char *)type, .action = (char *)action, .id = (char *)id,
						   .attributes = *m});
}

static void add_network(struct batch *b, const char *action, const char *id, const char *name, const char *driver)
{
	struct str_map m = {0};

	put(b, &m, "container", b->record->id);
	put(b, &m, "name", name);
	put(b, &m, "type", driver);
	add(b, "network", action, id, &m);
}

/* none and host are networks, too. */
static void add_networks(struct batch *b, const char *action)
{
	const struct dk_network_settings *n = &b->record->network;
	enum dk_network_kind kind = dk_network_kind(n);
	const char *name = kind == DK_NETWORK_NONE ? "none" : "host";

	if (kind == DK_NETWORK_NONE || kind == DK_NETWORK_HOST)
		add_network(b, action, dk_network_predefined_id(b->a, &b->store->roots, name), name,
			    kind == DK_NETWORK_NONE ? "null" : "host");
	for (size_t i = 0; kind == DK_NETWORK_BRIDGED && i < n->endpoints.n; i++)
		if (n->endpoints.v[i].network_id)
			add_network(b, action, n->endpoints.v[i].network_id, n->endpoints.v[i].network, "bridge");
}

static void add_volumes(struct batch *b, bool mount)
{
	const struct dk_run_options *o = &b->record->options;

	for (size_t i = 0; i < o->mounts.n; i++) {
		const struct dk_mount *v = &o->mounts.v[i];
		struct str_map m = {0};

		if (v->type != DK_MOUNT_VOLUME)
			continue;
		put(b, &m, "container", b->record->id);
		put(b, &m, "driver", "local");
		if (mount) {
			put(b, &m, "destination", v->target);
			put(b, &m, "propagation", "");
			put(b, &m, "read/write", v->readonly ? "false" : "true");
		}
		add(b, "volume", mount ? "mount" : "unmount", v->source, &m);
	}
}

static void add_container(struct batch *b, const char *action, struct dk_event_fact fact)
{
	struct str_map m = dk_container_facts(b->a, b->record, fact);

	add(b, "container", action, b->record->id, &m);
}

static void end_batch(struct batch *b)
{
	dk_events_write(&b->store->roots, &b->lines);
	strbuf_free(&b->lines);
	arena_free(b->a);
}

void dk_events_of_start(const struct dk_store *s, const struct dk_record *r)
{
	struct batch b = {.a = arena_new(), .store = s, .record = r};

	add_networks(&b, "connect");
	add_volumes(&b, true);
	add_container(&b, "start", (struct dk_event_fact){0});
	end_batch(&b);
}

void dk_events_of_end(const struct dk_store *s, const struct dk_record *r, int exit_code)
{
	struct batch b = {.a = arena_new(), .store = s, .record = r};
	char code[16];

	snprintf(code, sizeof(code), "%d", exit_code);
	add_container(&b, "die", (struct dk_event_fact){"exitCode", code});
	add_networks(&b, "disconnect");
	add_volumes(&b, false);
	end_batch(&b);
}

void dk_network_event(const struct dk_roots *roots, const char *action, const struct dk_network_def *d,
		      const char *container)
{
	struct str_pair facts[] = {{(char *)"container", (char *)container}, {(char *)"name", d->name},
				   {(char *)"type", d->driver}};

	dk_event_write(roots, &(struct dk_event){.type = (char *)"network", .action = (char *)action, .id = d->id,
						 .attributes = {facts, 3}});
}

static struct str_map labels_of(struct arena *a, const struct dk_roots *roots, const char *id)
{
	struct str_map none = {0};
	struct err ignored = {0};
	struct img_image image;
	struct img_store s;

	if (img_store_open(&s, roots->data, &ignored) < 0)
		return none;
	if (img_by_id(&s, id, a, &image, &ignored) == 1)
		none = image.config.labels;
	img_store_close(&s);
	return none;
}

void dk_image_event(const struct dk_roots *roots, const char *action, const char *id, const char *name,
		    const struct str_map *labels)
{
	auto_arena struct arena *a = arena_new();
	struct str_map own = labels ? *labels : labels_of(a, roots, id), m = {0};

	for (size_t i = 0; i < own.n; i++)
		dk_map_add(a, &m, own.v[i].key, own.v[i].value, false); /* each is there once */
	dk_map_add(a, &m, (char *)"name", (char *)name, true);
	dk_event_write(roots, &(struct dk_event){.type = (char *)"image", .action = (char *)action, .id = (char *)id,
						 .attributes = m});
}
