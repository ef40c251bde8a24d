/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a container: all that inspect shows and a later start needs. It is one JSON document,
 * DATA/containers/ID/record.json, replaced by rename.
 *
 * Who may change it: before the first start and after an end, who holds the container's owner lock
 * (docker/store.h). While it runs several may (the owner, rename, update): they all go through
 * dk_record_update, which takes a lock for the moment of reading and writing.
 *
 * Whether a container runs is not a matter of the record alone: see dk_container_look.
 */
#pragma once

#include "docker/network.h"
#include "docker/run-options.h"
#include "docker/store.h"
#include "image/image.h"
#include "image/reference.h"

/* States that a record has. A container that is "created" may still have an exit code (127) and an
 * error: its start failed. */
#define DK_CREATED "created"
#define DK_RUNNING "running"   /* since a start began; true while its owner lives */
#define DK_RESTARTING "restarting" /* between two starts by the restart policy */
#define DK_EXITED "exited"
#define DK_DEAD "dead"         /* could not be removed */

struct dk_state {
	char *status;
	int64_t exit_code;
	char *error;                     /* of a failed start; NULL: none */
	char *started, *finished;        /* RFC 3339; NULL: never */
	bool oom_killed;
	int64_t restart_count;
	bool stopped_by_user;            /* stop, kill: the restart policy rests until the next start */
	bool paused;                     /* of no meaning when it does not run */
};

/* What Docker's Config says: the image's configuration with the options laid over it. */
struct dk_container_config {
	char *hostname, *domainname, *user, *workdir, *stop_signal, *image;
	bool attach_stdin, attach_stdout, attach_stderr, tty, open_stdin, stdin_once;
	struct opt_i64 stop_timeout;
	struct strv env, cmd, entrypoint, on_build, shell;
	bool entrypoint_null;            /* null in inspect, not [] */
	struct str_map labels;
	struct strv volumes;             /* targets of anonymous volumes, the image's too */
	struct strv exposed_ports;       /* "80/tcp", sorted */
	struct img_healthcheck *healthcheck;
};

struct dk_record {
	uint32_t version;                /* DK_RECORD_VERSION */
	char *id, *name;                 /* without a slash */
	char *created;                   /* RFC 3339, nanoseconds */
	char *image_id;                  /* "sha256:..." */
	bool host_rootfs;
	struct strv layers;              /* directories, the top one first */
	char *path;                      /* what is run, with: */
	struct strv args;
	struct dk_container_config config;
	struct dk_run_options options;   /* HostConfig; `mounts` is resolved, volumes have names */
	struct strv mount_paths;         /* where the source of mounts[i] is on the host; "" for tmpfs */
	struct dk_network_settings network;
	bool needs_upper;                /* a read-only root had to get mount points once */
	struct dk_state state;
};
enum { DK_RECORD_VERSION = 1 };

extern const struct json_table dk_record_table;

/* -ENOENT without a message: there is no such container (any more). */
int dk_record_load(const struct dk_store *s, const char *id, struct arena *a,
		   struct dk_record **ret, struct err *e);
/* Its directory is there. Written through to the disk unless it is a --rm one. */
int dk_record_save(const struct dk_store *s, const struct dk_record *r, struct err *e);
/* Reads, lets fn change it, writes. fn returns 0, 1 (nothing to write) or -errno. ret may be NULL. */
typedef int dk_change_fn(struct dk_record *r, void *arg, struct err *e);
int dk_record_update(const struct dk_store *s, const char *id, dk_change_fn *fn, void *arg,
		     struct err *e);
/* The directory of a container and its name; volumes that are only its own too, if asked for. The caller
 * owns it. */
/* The name that the container has now: `rename` may have changed it. */
void dk_record_refresh_name(const struct dk_store *s, struct arena *a, struct dk_record *r);
int dk_record_remove(const struct dk_store *s, const char *id, const struct dk_record *r, bool volumes,
		     struct err *e);
/* fn for every container, in no order; a negative result ends it. Records that cannot be read are
 * left out with a warning. */
int dk_record_each(const struct dk_store *s, struct arena *a,
		   int (*fn)(struct dk_record *r, void *arg), void *arg, struct err *e);

/* ---- finding (docker/find.c) ---- */

/*
 * By id, name ("/name"), or beginning of an id. -ENOENT and "Error response from daemon: No such
 * container: X".
 */
int dk_container_find(struct dk_context *c, const char *ref, struct dk_record **ret, struct err *e);
int dk_container_find_id(struct dk_context *c, const char *ref, char ret[DK_ID_SIZE], struct err *e);

/* What is true of a container at this moment. */
struct dk_look {
	const char *status; /* "created", "running", "paused", "restarting", "exited", "dead" */
	bool running;       /* also when paused */
	bool paused;
	pid_t pid;          /* its first process on the host; 0: none */
	const char *started; /* the present start; NULL: as the record has it */
};
void dk_container_look(const struct dk_store *s, const struct dk_record *r, struct dk_look *ret);
