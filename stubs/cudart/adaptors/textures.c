/* SPDX-License-Identifier: MIT */
/* textures.c - texture and surface objects */
#include "adaptor.h"
#include "adaptors.h"

/*
 * 13.0 gave resource and view descriptors a reserved tail.  A caller's descriptor
 * fits into the older layout if its tail is zero.
 */
/* A struct in another layout, or NULL for NULL. */
static void *converted(void *to, const void *from, const struct lc_conversion *conversion)
{
	if (!from)
		return NULL;
	lc_convert(to, from, conversion);
	return to;
}

/* cudaResourceType: the first kinds, which every CUDA has. */
enum { KINDS_OF_RESOURCES = 4 };

/* A resource is a union.  The bytes after the member of its kind, and that member's
 * padding, hold whatever was in the caller's memory, so they are not checked. */
static bool resource_fits(const void *resource)
{
	if (!resource)
		return true;
	if (LC_FIELD(const uint32_t, resource, LC_AT_cudaResourceDesc_B_resType) < KINDS_OF_RESOURCES)
		return !LC_FIELD(const uint32_t, resource, LC_AT_cudaResourceDesc_B_flags);
	return lc_fits(resource, &LC_FROM(cudaResourceDesc_A, cudaResourceDesc_B));
}

static bool view_fits(const void *view)
{
	return !view || lc_fits(view, &LC_FROM(cudaResourceViewDesc_A, cudaResourceViewDesc_B));
}

static void zero_handle(void *handle)
{
	if (handle)
		memset(handle, 0, sizeof(uint64_t));
}

/*
 * A caller of 11 means cudaTextureDesc of 11.7, with seamlessCubemap at its end,
 * or that of 11.8, without it.  Nothing tells which, so the field is not read, and
 * 11.8's own library does not read it from a caller of 11.7 either.
 */
static void *texture_of_11(void *texture, const void *callers)
{
	if (!callers)
		return NULL;
	memset(texture, 0, LC_SIZE_cudaTextureDesc_A);
	return memcpy(texture, callers, LC_SIZE_cudaTextureDesc_v1_A);
}

int32_t lc_adapt_cudaCreateTextureObject_11_12(void *object, void *resource, void *texture,
					       void *view)
{
	char copy[LC_SIZE_cudaTextureDesc_A] __attribute__((aligned(8)));

	return lc_slots.cudaCreateTextureObject_12(object, resource, texture_of_11(copy, texture),
						   view);
}

int32_t lc_adapt_cudaCreateTextureObject_12(void *object, void *resource, void *texture, void *view)
{
	char wide_resource[LC_SIZE_cudaResourceDesc_B] __attribute__((aligned(8)));
	char wide_view[LC_SIZE_cudaResourceViewDesc_B] __attribute__((aligned(8)));

	return lc_slots.cudaCreateTextureObject_13(object,
		converted(wide_resource, resource, &LC_FROM(cudaResourceDesc_B, cudaResourceDesc_A)),
		texture,
		converted(wide_view, view, &LC_FROM(cudaResourceViewDesc_B, cudaResourceViewDesc_A)));
}

int32_t lc_adapt_cudaCreateTextureObject_11_13(void *object, void *resource, void *texture,
					       void *view)
{
	char copy[LC_SIZE_cudaTextureDesc_A] __attribute__((aligned(8)));

	return lc_adapt_cudaCreateTextureObject_12(object, resource, texture_of_11(copy, texture),
						   view);
}

int32_t lc_adapt_cudaCreateTextureObject_13(void *object, void *resource, void *texture, void *view)
{
	char narrow_resource[LC_SIZE_cudaResourceDesc_A] __attribute__((aligned(8)));
	char narrow_view[LC_SIZE_cudaResourceViewDesc_A] __attribute__((aligned(8)));

	if (!resource_fits(resource) || !view_fits(view)) {
		zero_handle(object);
		return LC_REFUSE(cudaCreateTextureObject_13, LC_LOST);
	}
	return lc_slots.cudaCreateTextureObject_12(object,
		converted(narrow_resource, resource, &LC_FROM(cudaResourceDesc_A, cudaResourceDesc_B)),
		texture,
		converted(narrow_view, view,
			  &LC_FROM(cudaResourceViewDesc_A, cudaResourceViewDesc_B)));
}

int32_t lc_adapt_cudaCreateSurfaceObject_11(void *object, void *resource)
{
	char wide[LC_SIZE_cudaResourceDesc_B] __attribute__((aligned(8)));

	return lc_slots.cudaCreateSurfaceObject_13(object,
		converted(wide, resource, &LC_FROM(cudaResourceDesc_B, cudaResourceDesc_A)));
}

int32_t lc_adapt_cudaCreateSurfaceObject_13(void *object, void *resource)
{
	char narrow[LC_SIZE_cudaResourceDesc_A] __attribute__((aligned(8)));

	if (!resource_fits(resource)) {
		zero_handle(object);
		return LC_REFUSE(cudaCreateSurfaceObject_13, LC_LOST);
	}
	return lc_slots.cudaCreateSurfaceObject_11(object,
		converted(narrow, resource, &LC_FROM(cudaResourceDesc_A, cudaResourceDesc_B)));
}

/* Reads a descriptor back into the runtime's struct, then converts it. */
#define READ_BACK(name, callers, runtimes, layout, own, other) \
int32_t lc_adapt_##name##_##callers(void *out, uint64_t object) \
{ \
	char theirs[LC_SIZE_##layout##_##other] __attribute__((aligned(8))) = { 0 }; \
	int32_t error = lc_slots.name##_##runtimes(out ? theirs : NULL, object); \
\
	if (out) \
		lc_convert(out, theirs, &LC_FROM(layout##_##own, layout##_##other)); \
	return error; \
}
READ_BACK(cudaGetTextureObjectResourceDesc, 11, 13, cudaResourceDesc, A, B)
READ_BACK(cudaGetTextureObjectResourceDesc, 13, 11, cudaResourceDesc, B, A)
READ_BACK(cudaGetSurfaceObjectResourceDesc, 11, 13, cudaResourceDesc, A, B)
READ_BACK(cudaGetSurfaceObjectResourceDesc, 13, 11, cudaResourceDesc, B, A)
READ_BACK(cudaGetTextureObjectResourceViewDesc, 11, 13, cudaResourceViewDesc, A, B)
READ_BACK(cudaGetTextureObjectResourceViewDesc, 13, 11, cudaResourceViewDesc, B, A)

/* A caller of 11.8 has no room for seamlessCubemap: only fields before it are copied. */
int32_t lc_adapt_cudaGetTextureObjectTextureDesc_11(void *out, uint64_t object)
{
	char theirs[LC_SIZE_cudaTextureDesc_A] __attribute__((aligned(8))) = { 0 };
	int32_t error = lc_slots.cudaGetTextureObjectTextureDesc_12(out ? theirs : NULL, object);

	if (out)
		memcpy(out, theirs, LC_SIZE_cudaTextureDesc_v1_A);
	return error;
}
