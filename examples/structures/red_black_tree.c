/* A map from integers to pointers: a red-black tree with parent pointers. */
#include <stdbool.h>
#include <stdlib.h>

struct rb_node {
    struct rb_node *parent, *left, *right;
    bool red;
    long key;
    void *value;
};

struct rb_tree {
    struct rb_node *root;
};

/* A missing child counts as black. */
static bool is_red(const struct rb_node *node)
{
    return node != NULL && node->red;
}

/* Puts `new` where `old` hangs. `new` may be null. */
static void replace_child(struct rb_tree *tree, struct rb_node *old, struct rb_node *new)
{
    struct rb_node *parent = old->parent;
    if (parent == NULL)
        tree->root = new;
    else if (parent->left == old)
        parent->left = new;
    else
        parent->right = new;
    if (new != NULL)
        new->parent = parent;
}

static void rotate_left(struct rb_tree *tree, struct rb_node *node)
{
    struct rb_node *up = node->right;
    replace_child(tree, node, up);
    node->right = up->left;
    if (node->right != NULL)
        node->right->parent = node;
    up->left = node;
    node->parent = up;
}

static void rotate_right(struct rb_tree *tree, struct rb_node *node)
{
    struct rb_node *up = node->left;
    replace_child(tree, node, up);
    node->left = up->right;
    if (node->left != NULL)
        node->left->parent = node;
    up->right = node;
    node->parent = up;
}

static struct rb_node *find(const struct rb_tree *tree, long key)
{
    struct rb_node *node = tree->root;
    while (node != NULL && node->key != key)
        node = key < node->key ? node->left : node->right;
    return node;
}

/* The value of a key; null if it is not there. */
void *rb_lookup(const struct rb_tree *tree, long key)
{
    const struct rb_node *node = find(tree, key);
    return node != NULL ? node->value : NULL;
}

/* Restores the colours after `node` was hung in as a red leaf. */
static void fix_insert(struct rb_tree *tree, struct rb_node *node)
{
    while (is_red(node->parent)) {
        struct rb_node *parent = node->parent;
        struct rb_node *grand = parent->parent; /* there is one: the root is black */
        bool left = parent == grand->left;
        struct rb_node *uncle = left ? grand->right : grand->left;
        if (is_red(uncle)) {
            parent->red = uncle->red = false;
            grand->red = true;
            node = grand;
            continue;
        }
        if (left) {
            if (node == parent->right) {
                rotate_left(tree, parent);
                parent = node;
            }
            rotate_right(tree, grand);
        } else {
            if (node == parent->left) {
                rotate_right(tree, parent);
                parent = node;
            }
            rotate_left(tree, grand);
        }
        parent->red = false;
        grand->red = true;
        break;
    }
    tree->root->red = false;
}

/* Sets the value of a key. Returns false, and changes nothing, if memory is short. */
bool rb_insert(struct rb_tree *tree, long key, void *value)
{
    struct rb_node *parent = NULL, *node;
    struct rb_node **link = &tree->root;
    while (*link != NULL) {
        parent = *link;
        if (key == parent->key) {
            parent->value = value;
            return true;
        }
        link = key < parent->key ? &parent->left : &parent->right;
    }
    node = malloc(sizeof *node);
    if (node == NULL)
        return false;
    *node = (struct rb_node){ .parent = parent, .red = true, .key = key, .value = value };
    *link = node;
    fix_insert(tree, node);
    return true;
}

/* The side of `parent` where `node` hangs is one black node short. `node` may be null. */
static void fix_delete(struct rb_tree *tree, struct rb_node *node, struct rb_node *parent)
{
    while (parent != NULL && !is_red(node)) {
        bool left = node == parent->left;
        struct rb_node *sibling = left ? parent->right : parent->left;
        if (sibling->red) {
            sibling->red = false;
            parent->red = true;
            if (left)
                rotate_left(tree, parent);
            else
                rotate_right(tree, parent);
            sibling = left ? parent->right : parent->left;
        }
        if (!is_red(sibling->left) && !is_red(sibling->right)) {
            sibling->red = true;
            node = parent;
            parent = node->parent;
            continue;
        }
        if (left) {
            if (!is_red(sibling->right)) {
                sibling->left->red = false;
                sibling->red = true;
                rotate_right(tree, sibling);
                sibling = parent->right;
            }
            sibling->right->red = false;
            rotate_left(tree, parent);
        } else {
            if (!is_red(sibling->left)) {
                sibling->right->red = false;
                sibling->red = true;
                rotate_left(tree, sibling);
                sibling = parent->left;
            }
            sibling->left->red = false;
            rotate_right(tree, parent);
        }
        sibling->red = parent->red;
        parent->red = false;
        return;
    }
    if (node != NULL)
        node->red = false;
}

/* Takes a key out. Returns false if it is not there. */
bool rb_delete(struct rb_tree *tree, long key)
{
    struct rb_node *node = find(tree, key), *child, *parent;
    bool black;
    if (node == NULL)
        return false;
    if (node->left != NULL && node->right != NULL) { /* the next key moves here, its node goes */
        struct rb_node *next = node->right;
        while (next->left != NULL)
            next = next->left;
        node->key = next->key;
        node->value = next->value;
        node = next;
    }
    child = node->left != NULL ? node->left : node->right;
    parent = node->parent;
    black = !node->red;
    replace_child(tree, node, child);
    free(node);
    if (black)
        fix_delete(tree, child, parent);
    return true;
}
